// Makes src/lib/api-types.ts, or the file that is named, of the OpenAPI document on the standard input:
//   python scripts/openapi.py | npm run types
import { readFileSync, writeFileSync } from "node:fs";

const target = process.argv[2] ?? new URL("../src/lib/api-types.ts", import.meta.url);
const document = JSON.parse(readFileSync(0, "utf8"));

const PLAIN = { string: "string", integer: "number", number: "number", boolean: "boolean", null: "null" };

function typeOf(schema) {
  if (schema === undefined || Object.keys(schema).length === 0) return "unknown";
  if (schema.$ref) return schema.$ref.split("/").at(-1);
  if (schema.anyOf) return [...new Set(schema.anyOf.map(typeOf))].join(" | ");
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.type === "array") return arrayOf(schema);
  if (schema.type === "object") return objectOf(schema);
  return PLAIN[schema.type] ?? "unknown";
}

function arrayOf(schema) {
  if (schema.prefixItems) return `[${schema.prefixItems.map(typeOf).join(", ")}]`;
  const item = typeOf(schema.items);
  return item.includes("|") ? `(${item})[]` : `${item}[]`;
}

function objectOf(schema) {
  if (!schema.properties) return `Record<string, ${typeOf(schema.additionalProperties)}>`;
  const required = new Set(schema.required ?? []);
  const fields = Object.entries(schema.properties).map(
    ([name, field]) => `  ${name}${required.has(name) ? "" : "?"}: ${typeOf(field)};`,
  );
  return `{\n${fields.join("\n")}\n}`;
}

function comment(words) {
  if (!words) return "";
  const lines = words.replaceAll("*/", "* /").split("\n").map((line) => line.trim());
  return lines.length === 1 ? `/** ${lines[0]} */\n` : `/**\n${lines.map((line) => ` * ${line}`.trimEnd()).join("\n")}\n */\n`;
}

function declared([name, schema]) {
  const type = typeOf(schema);
  const isShape = type.startsWith("{");
  return `${comment(schema.description)}export ${isShape ? `interface ${name} ${type}` : `type ${name} = ${type};`}`;
}

function operation(path, described) {
  const asked = described.parameters
    .filter((one) => one.in === "query")
    .map((one) => `      ${one.name}${one.required ? "" : "?"}: ${typeOf(one.schema)};`);
  const json = described.responses["200"].content["application/json"];
  return [
    `  /** ${described.summary} */`,
    `  ${JSON.stringify(path)}: {`,
    asked.length ? `    asked: {\n${asked.join("\n")}\n    };` : "    asked: Record<string, never>;",
    `    answer: ${json ? typeOf(json.schema) : "unknown"};`,
    "  };",
  ].join("\n");
}

function operations(name, method, isWanted = () => true) {
  const found = Object.entries(document.paths)
    .filter(([, methods]) => methods[method] && isWanted(methods[method]))
    .map(([path, methods]) => operation(path, methods[method]));
  return `export interface ${name} {\n${found.join("\n")}\n}`;
}

const parts = [
  "// Made by scripts/api-types.mjs of the OpenAPI document of the server. Not to be edited.",
  ...Object.entries(document.components.schemas).map(declared),
  `/** What can be asked. */\n${operations("Readable", "get")}`,
  `/** What changes something. */\n${operations("Changing", "post")}`,
];
writeFileSync(target, `${parts.join("\n\n")}\n`);
