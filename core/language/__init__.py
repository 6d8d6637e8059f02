"""Small word lists and text helpers of general language (English, Chinese), shared by rules of all layers."""
