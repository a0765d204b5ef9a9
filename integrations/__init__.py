"""Memory planners in the shape of compilers that embed them."""
