# SPDX-License-Identifier: Apache-2.0
"""Memory planners in the shape of compilers that embed them."""
