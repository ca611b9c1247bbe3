"""What a trajectory had seen when it answered; pure."""
