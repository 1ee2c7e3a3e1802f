#!/bin/sh
echo "$1 ${#2} $(ls -A /workspace 2>&1 | head -c 20) $(pwd)"
