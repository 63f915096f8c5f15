"""Load tests of a deployment by a command, which the packages of `loadtests` carry out."""
