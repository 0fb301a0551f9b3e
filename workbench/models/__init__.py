"""Language models: messages in, one completion out."""
