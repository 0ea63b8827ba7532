"use strict";
// The API as /openapi.json describes it. Descriptions are put on the page as text, never as markup.

function element(tag, { text, className, ...attributes } = {}, children = []) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

const nameOf = (reference) => reference.split("/").pop();

function typeOf(schema) {
  if (!schema) return "";
  if (schema.$ref) return nameOf(schema.$ref);
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(" or ");
  if (schema.type === "array") return `list of (${typeOf(schema.items)})`;
  return [schema.type, ...limits(schema)].join(" ");
}

function limits(schema) {
  const said = { minLength: "≥ {} characters", maxLength: "≤ {} characters", minimum: "≥ {}", maximum: "≤ {}", exclusiveMaximum: "< {}" };
  return Object.entries(said).filter(([name]) => name in schema).map(([name, words]) => words.replace("{}", schema[name]));
}

function fields(schema) {
  const needed = new Set(schema.required || []);
  const rows = Object.entries(schema.properties || {}).map(([name, field]) => element("tr", {}, [
    element("td", { className: "field", text: name + (needed.has(name) ? "" : " ?") }),
    element("td", { text: typeOf(field) }),
    element("td", { className: "quiet", text: field.description || "" }),
  ]));
  return element("table", {}, [element("tbody", {}, rows)]);
}

function endpoint(path, verb, told) {
  const parts = [
    element("h2", {}, [element("span", { className: "verb", text: verb.toUpperCase() }), element("code", { text: path }), element("span", { className: "quiet", text: told.summary || "" })]),
  ];
  if (told.description) parts.push(element("p", { text: told.description }));
  const body = told.requestBody && told.requestBody.content["application/json"].schema;
  if (body) {
    parts.push(element("p", {}, ["Send ", element("a", { href: `#${typeOf(body)}`, text: typeOf(body) }), ":"]));
    const example = JSON.stringify({ turns: ["你喜欢北京吗？", "喜欢。"] });
    parts.push(element("pre", {}, [element("code", { text: `curl -H 'Content-Type: application/json' \\\n  -d '${example}' ${location.origin}${path}` })]));
  }
  const rows = Object.entries(told.responses).map(([status, answer]) => {
    const content = Object.values(answer.content || {})[0];
    const type = content && typeOf(content.schema);
    return element("tr", {}, [
      element("td", { className: "field", text: status }),
      element("td", {}, type && type !== "string" ? [element("a", { href: `#${type}`, text: type })] : [type || ""]),
      element("td", { className: "quiet", text: answer.description || "" }),
    ]);
  });
  parts.push(element("details", {}, [element("summary", { text: "answers" }), element("table", {}, [element("tbody", {}, rows)])]));
  return element("section", { className: "endpoint" }, parts);
}

async function begin() {
  const told = await (await fetch("/openapi.json")).json();
  const endpoints = Object.entries(told.paths).flatMap(([path, verbs]) => Object.entries(verbs).map(([verb, one]) => endpoint(path, verb, one)));
  const schemas = Object.entries(told.components.schemas).map(([name, schema]) => element("section", { id: name }, [
    element("h2", { text: name }),
    ...(schema.description ? [element("p", { className: "quiet", text: schema.description })] : []),
    fields(schema),
  ]));
  document.getElementById("docs").replaceChildren(element("p", { text: told.info.description }), ...endpoints, ...schemas);
}

begin();
