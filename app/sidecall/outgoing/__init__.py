"""What tools, and the server itself, send to other hosts: to public addresses only, unless an operator names others."""
