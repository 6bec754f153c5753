"""The learner and the router: attributes, nodes, growing, routing. It knows numbers only."""
