// What the official conformance suite asks a server for by name. Both servers here offer it.

export const INFO = { name: "callgate-conformance-fixture", version: "1" };

/// The smallest images and sounds that are any.
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

export const text = (text) => ({ type: "text", text });
export const said = (...words) => ({ content: [text(words.join(" "))] });
export const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

const image = { type: "image", data: PNG, mimeType: "image/png" };
const NOTHING = { type: "object", properties: {} };

export const tool = (name, description, inputSchema = NOTHING) => ({ name, description, inputSchema });

const embedded = (uri, mimeType, text) => ({ type: "resource", resource: { uri, mimeType, text } });

const MIXED = JSON.stringify({ test: "data", value: 123 });

/// Tools whose result is always the same.
export const RESULTS = {
  test_simple_text: said("This is a simple text response for testing."),
  test_image_content: { content: [image] },
  test_audio_content: { content: [{ type: "audio", data: WAV, mimeType: "audio/wav" }] },
  test_embedded_resource: {
    content: [embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")],
  },
  test_multiple_content_types: {
    content: [
      text("Multiple content types test:"),
      image,
      embedded("test://mixed-content-resource", "application/json", MIXED),
    ],
  },
  test_error_handling: { ...said("This tool intentionally returns an error for testing"), isError: true },
  json_schema_2020_12_tool: said("The schema is what matters."),
};

/// A schema that uses what a proxy might lose.
const SCHEMA = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};

export const TOOLS = [
  tool("test_simple_text", "Says a sentence"),
  tool("test_image_content", "Shows an image"),
  tool("test_audio_content", "Plays a sound"),
  tool("test_embedded_resource", "Gives a resource"),
  tool("test_multiple_content_types", "Gives text, an image and a resource"),
  tool("test_error_handling", "Fails"),
  tool("test_tool_with_progress", "Says how far it has come"),
  tool("json_schema_2020_12_tool", "Has a schema with everything in it", SCHEMA),
];

/// The progress of a call, for clients that asked for it.
export async function progress(progressToken, notify) {
  for (const progress of [0, 50, 100]) {
    if (progressToken !== undefined) {
      await notify({ method: "notifications/progress", params: { progressToken, progress, total: 100 } });
    }
    await pause(20);
  }
  return said("Done.");
}

const argument = (name, description) => ({ name, description, required: true });

export const PROMPTS = [
  { name: "test_simple_prompt", description: "A sentence" },
  {
    name: "test_prompt_with_arguments",
    description: "A sentence with two words of yours",
    arguments: [argument("arg1", "The first"), argument("arg2", "The second")],
  },
  {
    name: "test_prompt_with_embedded_resource",
    description: "A resource",
    arguments: [argument("resourceUri", "Which one")],
  },
  { name: "test_prompt_with_image", description: "An image" },
];

const user = (...contents) => ({ messages: contents.map((content) => ({ role: "user", content })) });

export function prompt({ name, arguments: given = {} }) {
  switch (name) {
    case "test_simple_prompt":
      return user(text("This is a simple prompt for testing."));
    case "test_prompt_with_arguments":
      return user(text(`Prompt with arguments: arg1='${given.arg1}', arg2='${given.arg2}'`));
    case "test_prompt_with_embedded_resource":
      return user(
        embedded(given.resourceUri, "text/plain", "Embedded resource content for testing."),
        text("Please process the embedded resource above."),
      );
    case "test_prompt_with_image":
      return user(image, text("Please analyze the image above."));
  }
}

export const COMPLETION = { completion: { values: ["paris", "park", "party"], total: 3, hasMore: false } };

const resource = (name, mimeType) => ({
  uri: `test://${name}`,
  name,
  description: `The resource ${name}`,
  mimeType,
});

export const RESOURCES = [
  resource("static-text", "text/plain"),
  resource("static-binary", "image/png"),
  resource("watched-resource", "text/plain"),
];

export const TEMPLATES = [
  {
    uriTemplate: "test://template/{id}/data",
    name: "template",
    description: "Data by its number",
    mimeType: "application/json",
  },
];

/// What is at a place; nothing if there is nothing.
export function read(uri) {
  const found = (rest) => ({ contents: [{ uri, ...rest }] });
  const [, id] = /^test:\/\/template\/([^/]+)\/data$/.exec(uri) ?? [];
  if (id) {
    const data = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
    return found({ mimeType: "application/json", text: data });
  }
  switch (uri) {
    case "test://static-text":
      return found({ mimeType: "text/plain", text: "This is the content of the static text resource." });
    case "test://static-binary":
      return found({ mimeType: "image/png", blob: PNG });
    case "test://watched-resource":
      return found({ mimeType: "text/plain", text: "Watched." });
  }
}
