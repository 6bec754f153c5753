// validatorUrl: null, since the badge would otherwise ask a host outside.
SwaggerUIBundle({
  url: "openapi.yaml",
  dom_id: "#docs",
  deepLinking: true,
  validatorUrl: null,
  presets: [SwaggerUIBundle.presets.apis],
});
