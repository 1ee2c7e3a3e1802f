"""What tools remember from call to call, for each tenant."""
