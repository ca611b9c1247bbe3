"""Read-Gate and its family: rules over evidence, decisions over rules; pure."""
