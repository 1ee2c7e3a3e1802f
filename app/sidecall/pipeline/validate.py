"""Check the arguments against the tool's schema."""

from sidecall.pipeline.stage import Step
from sidecall.schema.arguments import check_arguments

# The stage itself: a function around it would be entered for every call.
validate: Step = check_arguments
