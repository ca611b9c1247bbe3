"""Programs that play the model over HTTP; not language models."""
