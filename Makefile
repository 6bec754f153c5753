.PHONY: run test check fmt lock openapi
run test check fmt lock openapi: ; @./dev $@
