"""What calls cost and what may still be spent."""
