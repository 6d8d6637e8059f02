"""The registry of deployments and the commands that start them."""
