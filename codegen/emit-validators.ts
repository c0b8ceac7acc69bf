/**
 * generated/<name>/validators.ts: Ajv's standalone output as one ES module, so that the server starts without compiling schemas.
 * Requests fill in defaults and are never coerced; responses are only checked (tests and development).
 */
import type { Ajv2020 } from 'ajv/dist/2020.js'
import standaloneModule from 'ajv/dist/standalone/index.js'
import { createAjv, registerSchema } from './ajv.ts'
import type { MediaType, OpenApiDocument, Operation, Parameter, Response, Schema, SchemaObject } from './ir.ts'
import { planParts, textSchema } from './parts.ts'
import { banner, pascal, printKey } from './print.ts'
import type { Direction } from './schema.ts'

const standaloneCode = standaloneModule.default

/** One exported validator: what it is called and what it checks. */
export type ValidatorPlan = { name: string; direction: Direction; schema: Schema; pointer: string }

export function emitValidators(document: OpenApiDocument, runtimePath: string): string {
  const ajv = createAjv(document.schemas)
  const ids = new Map<string, string>()
  for (const { name, schema, direction } of planValidators(document)) {
    ids.set(name, registerSchema(ajv, name, schema, direction, document.schemas))
  }
  const tables = document.operations.map(emitEvents)
  return banner('emit-validators', document.file) + emitModule(ajv, ids, runtimePath) + tables.join('')
}

/** The names are what routes.ts refers to. */
export function paramsValidator(operation: Operation): string | null {
  return operation.parameters.length > 0 ? `${operation.id}Params` : null
}

export function bodyValidator(operation: Operation, schemas: Record<string, Schema>): string | null {
  return jsonBodySchema(operation, schemas) === null ? null : `${operation.id}Body`
}

export function responseValidator(operation: Operation, { status, content }: Response): string | null {
  return jsonSchema(content) === null ? null : `${operation.id}${pascal(status)}`
}

/** What the JSON body must be; of a multipart body, its JSON part, or its text parts by name. */
export function jsonBodySchema(operation: Operation, schemas: Record<string, Schema>): Schema | null {
  const content = operation.body?.content ?? []
  const multipart = content.find((media) => media.type === 'multipart/form-data')
  if (!multipart) return jsonSchema(content)
  const parts = planParts(multipart, schemas)
  return textSchema(parts) ?? parts.find(({ kind }) => kind === 'json')?.schema ?? null
}

export function planValidators(document: OpenApiDocument): ValidatorPlan[] {
  return [
    ...document.operations.flatMap((operation) => planOperation(operation, document.schemas)),
    // A webhook's payload is ours to send.
    ...document.webhooks.flatMap(({ id, body, pointer }) =>
      plan(`${id}Payload`, 'response', jsonSchema(body?.content ?? []), pointer),
    ),
  ]
}

function planOperation(operation: Operation, schemas: Record<string, Schema>): ValidatorPlan[] {
  const { parameters, responses, pointer } = operation
  return [
    ...plan(paramsValidator(operation), 'request', paramsSchema(parameters), `${pointer}/parameters`),
    ...plan(bodyValidator(operation, schemas), 'request', jsonBodySchema(operation, schemas), `${pointer}/requestBody`),
    ...responses.flatMap((response) => [
      ...plan(responseValidator(operation, response), 'response', jsonSchema(response.content), response.pointer),
      ...response.content
        .flatMap((media) => [...Object.values(media.events), ...(media.eventData === null ? [] : [media.eventData])])
        .flatMap((component) =>
          plan(eventValidator(component), 'response', { $ref: `#/components/schemas/${component}` }, response.pointer),
        ),
    ]),
  ]
}

function plan(name: string | null, direction: Direction, schema: Schema | null, pointer: string): ValidatorPlan[] {
  return name === null || schema === null ? [] : [{ name, direction, schema, pointer }]
}

function jsonSchema(content: MediaType[]): Schema | null {
  return content.find((media) => media.type === 'application/json')?.schema ?? null
}

/** Checks {path, query, header}. The engine reads the declared parameters only, so there is nothing to close. */
function paramsSchema(parameters: Parameter[]): SchemaObject {
  const place = (where: Parameter['in']): SchemaObject => {
    const own = parameters.filter((parameter) => parameter.in === where)
    const nameOf = ({ name }: Parameter) => (where === 'header' ? name.toLowerCase() : name)
    return {
      type: 'object',
      properties: Object.fromEntries(own.map((parameter) => [nameOf(parameter), parameter.schema])),
      required: own.filter((parameter) => parameter.required).map(nameOf),
    }
  }
  return {
    type: 'object',
    properties: { path: place('path'), query: place('query'), header: place('header') },
    required: ['path', 'query', 'header'],
  }
}

function eventValidator(component: string): string {
  return `event${component}`
}

/** `respondEvents['response.created']`: what each event of a stream must be. */
function emitEvents(operation: Operation): string {
  const events = operation.responses.flatMap((response) => response.content.flatMap((m) => Object.entries(m.events)))
  if (events.length === 0) return ''
  const rows = events.map(([event, component]) => `  ${printKey(event)}: ${eventValidator(component)},\n`)
  return `export const ${operation.id}Events: Readonly<Record<string, Validate>> = {\n${rows.join('')}}\n`
}

/** The module's own name for the schema with this id: `request:LLMRequest` → `request_LLMRequest`. */
function symbol(id: string): string {
  return id.replaceAll(/[^A-Za-z0-9_$]/g, '_')
}

/**
 * Ajv exports each schema once, under our symbol; the names that routes.ts knows are aliases. Its output still says
 * require(…) for its few runtime modules even as an ES module, and knows nothing of our Validate type.
 */
export function emitModule(ajv: Ajv2020, ids: ReadonlyMap<string, string>, runtimePath: string): string {
  const refs = Object.fromEntries([...new Set(ids.values())].map((id) => [symbol(id), id]))
  const standalone = standaloneCode(ajv, refs)
  const { code, imports } = toEsm(standalone.replace(/^"use strict";/, ''))
  const typed = withQuickLengths(code).replaceAll(/export const (\w+) = (validate\d+);/g, 'const $1: Validate = $2;\n')
  const aliases = [...ids].map(([name, id]) => `export const ${name}: Validate = ${symbol(id)}\n`)
  return `/* eslint-disable */
// @ts-nocheck: Ajv's standalone output.
${imports.join('')}import type { Validate } from '${runtimePath}/engine/operation.ts'

${typed}
${aliases.join('')}`
}

/**
 * JSON Schema counts code points, and Ajv walks through the whole text to do so. A text has as many as UTF-16 units at most and half as many
 * at least, which nearly always settles it: a limit of a million characters must not cost a millisecond.
 */
function withQuickLengths(code: string): string {
  const name = /const (func\d+) = ucs2lengthModule\.default;/.exec(code)?.[1]
  if (name === undefined) return code
  return code
    .replaceAll(new RegExp(`\\b${name}\\((\\w+)\\) > (\\d+)`, 'g'), `$1.length > $2 && ${name}($1) > $2`)
    .replaceAll(
      new RegExp(`\\b${name}\\((\\w+)\\) < (\\d+)`, 'g'),
      (_match, text: string, least: string) => `${text}.length < ${2 * Number(least)} && ${name}(${text}) < ${least}`,
    )
}

function toEsm(code: string): { code: string; imports: string[] } {
  const modules = new Map<string, string>()
  const replaced = code.replaceAll(/require\("([^"]+)"\)(\.default)?/g, (_match, module: string, member?: string) => {
    const name = `${module.split('/').at(-1)}Module`
    modules.set(module, name)
    return name + (member ?? '')
  })
  const imports = [...modules].map(([module, name]) => `import ${name} from '${module}.js'\n`)
  if (!/\bformats\b/.test(replaced)) return { code: replaced, imports }
  // CommonJS: Node's default import is the whole module.
  imports.push("import formatsModule from 'ajv-formats/dist/formats.js'\n")
  return { code: `const formats = formatsModule.fullFormats;\n${replaced}`, imports }
}
