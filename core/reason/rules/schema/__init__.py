"""The judgements of MindSchema without a model: deterministic, without network, English and Chinese."""
