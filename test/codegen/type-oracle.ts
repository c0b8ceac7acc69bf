/**
 * A second, independent check of the generated types: openapi-typescript makes types from the same documents. One file
 * has a line for each pair of types. The compiler refuses the line unless each type is assignable to the other.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript'
import ts from 'typescript'
import { type OpenApiDocument, type Operation, pascal, type Response } from '../../codegen/ir.ts'
import { readShared } from '../../codegen/load.ts'
import { lowerOpenApi } from '../../codegen/load-openapi.ts'
import { type Ref, resolve } from '../../codegen/reference.ts'
import { isBytes, isEnvelope, resolveSchema, type Schema } from '../../codegen/schema.ts'
import { TypeNames } from '../../codegen/targets/typescript/type-names.ts'
import { type View, viewsOf } from '../../codegen/views.ts'

/**
 * An API with the types that our generator makes, and its contract. If `planted` is set, openapi-typescript reads this
 * changed document instead of the contract.
 */
export type Subject = { name: string; contract: string; hasClient: boolean; planted?: string }
type Pair = { label: string; ours: string; theirs: string }

const root = join(import.meta.dirname, '../..')
const shared = readShared(readFileSync(join(root, 'specs/shared.yaml'), 'utf8'))
const views = ['answered', 'received', 'sent'] as const

/** Returns for each subject the number of compared pairs, and the labels of differing pairs. */
export async function compare(subjects: readonly Subject[]): Promise<{ pairs: number; differing: string[] }[]> {
  // Each process has a folder, because two runs in one checkout may overlap.
  const folder = join(root, '.cache', `type-oracle-${process.pid}`)
  mkdirSync(folder, { recursive: true })
  try {
    const files = await Promise.all(
      subjects.map((subject, i) => writeCheck(subject, join(folder, `${subject.name}-${i}`))),
    )
    return refused(files)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

type Check = { file: string; pairs: Pair[]; firstLine: number }

async function writeCheck(subject: Subject, base: string): Promise<Check> {
  const document = lowerOpenApi(JSON.parse(subject.contract) as object, {
    file: `${subject.name}.openapi.yaml`,
    shared,
  })
  for (const isReceived of [false, true])
    writeFileSync(`${base}.${isReceived}.ts`, await opinionOf(subject.planted ?? subject.contract, isReceived))
  const pairs = pairsOf(document, subject.hasClient)
  const generated = `../../generated`
  const head = [
    `import type { Agrees, Declared, Given, Headers, Hold, LowerCase, Parameters, Readable, Writable } from '../../test/codegen/agreement.ts'`,
    `import type * as types from '${generated}/${subject.name}/types.ts'`,
    `import type * as handlers from '${generated}/${subject.name}/handlers.ts'`,
    ...(subject.hasClient ? [`import type * as client from '${generated}/clients/typescript/${subject.name}.ts'`] : []),
    `import type * as written from './${basename(base)}.false.ts'`,
    `import type * as received from './${basename(base)}.true.ts'`,
  ]
  const lines = pairs.map(({ ours, theirs }, i) => `export type T${i} = Hold<Agrees<${ours}, ${theirs}>>`)
  const file = `${base}.check.ts`
  writeFileSync(file, [...head, ...lines, ''].join('\n'))
  return { file, pairs, firstLine: head.length }
}

/**
 * Generates the types with openapi-typescript. The types of a handler's input have the default values filled in,
 * because validation has done this before.
 */
async function opinionOf(contract: string, isReceived: boolean): Promise<string> {
  const document = JSON.parse(contract) as OpenAPI3
  for (const { value, place } of nodesOf(document)) complete(document, value, place, isReceived)
  const nodes = await openapiTS(document, {
    silent: true,
    readWriteMarkers: true,
    defaultNonNullable: isReceived,
    transform: (schema) => (isBytes(schema as Record<string, unknown>) ? bytes : undefined),
  })
  return astToString(nodes)
}

/** Bytes are a literal type, because `Readable` and `Writable` rewrite object types. */
const bytes = ts.factory.createLiteralTypeNode(ts.factory.createStringLiteral('the bytes'))

/** Adds to the document the facts that openapi-typescript ignores. */
function complete(document: object, node: Node, place: string, isReceived: boolean): void {
  const { components } = document as { components: { schemas: Record<string, Schema> } }
  // For openapi-typescript a header is required if it is a reference, so the reference is resolved.
  if (place === 'headers')
    for (const [name, header] of Object.entries(node)) node[name] = resolve(document, header as Ref)
  // The served document only lists the aliases of a field.
  if (place === 'properties')
    for (const field of Object.values(node) as Node[])
      for (const alias of (field['x-aliases'] ?? []) as string[]) node[alias] = field
  // openapi-typescript takes an object with undeclared fields for an object without fields, unless
  // `additionalProperties` is set.
  if (node['type'] === 'object' && !fieldsOfObjects.some((key) => key in node)) node['additionalProperties'] = true
  if (typeof node['in'] !== 'string') return
  // For openapi-typescript a parameter with a content type is a string, so the parameter gets the content's schema.
  const [content] = Object.values((node['content'] ?? {}) as Record<string, { schema: Schema }>)
  const schema = (node['schema'] ??= content?.schema ?? true) as Schema
  // For openapi-typescript a parameter with a default is optional. A handler always receives it.
  const sides = isReceived ? [schema, resolveSchema(components.schemas, schema)] : []
  if (sides.some((side) => typeof side === 'object' && side.default !== undefined)) node['required'] = true
}

const fieldsOfObjects = ['properties', 'additionalProperties', 'unevaluatedProperties', 'allOf', 'oneOf', 'anyOf']

type Node = Record<string, unknown>

/** Returns every object in the document, with its key. */
function nodesOf(value: unknown, place = ''): { value: Node; place: string }[] {
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.entries(value).flatMap(([key, child]) => nodesOf(child, key))
  return Array.isArray(value) ? inner : [{ value: value as Node, place }, ...inner]
}

function pairsOf(document: OpenApiDocument, hasClient: boolean): Pair[] {
  return [
    ...componentPairs(document),
    ...document.operations.flatMap((operation) => operationPairs(operation, hasClient)),
  ]
}

/** Returns a pair for each component in each view that the document uses. */
function componentPairs(document: OpenApiDocument): Pair[] {
  const components = viewsOf(document)
  const names = new TypeNames(components)
  return document.types.flatMap(({ name }) =>
    views.flatMap((view): Pair[] => {
      if (!components.distinct(name).includes(components.canonical(name, view))) return []
      const theirs = inView(view, `${opinion(view)}.components['schemas']['${name}']`)
      return [{ label: `${document.name} ${name} ${view}`, ours: `types.${names.component(name, view)}`, theirs }]
    }),
  )
}

/** Returns the name under which the checked file imports openapi-typescript's types for this view. */
const opinion = (view: View) => (view === 'received' ? 'received' : 'written')

/** Drops the fields that exist only in the other direction. openapi-typescript marks these fields. */
function inView(view: View, type: string): string {
  return `${view === 'answered' ? 'Readable' : 'Writable'}<${type}>`
}

function operationPairs(operation: Operation, hasClient: boolean): Pair[] {
  return [...handlerPairs(operation), ...resultPairs(operation), ...(hasClient ? clientPairs(operation) : [])]
}

function handlerPairs({ id, body }: Operation): Pair[] {
  const ours = `handlers.${pascal(id)}Request`
  const theirs = `received.operations['${id}']`
  const pair = (place: string, type: string) => ({
    label: `${id} request ${place}`,
    ours: `${ours}['${place}']`,
    theirs: type,
  })
  const parameters = (place: string) => `Parameters<${theirs}['parameters']['${place}']>`
  return [
    pair('path', parameters('path')),
    pair('query', parameters('query')),
    pair('header', `LowerCase<${parameters('header')}>`),
    pair('body', body === null ? 'undefined' : bodyOf(body, theirs, 'received')),
  ]
}

/** Returns the types for a body. Only JSON and forms have a type. */
function bodyOf({ content, required }: NonNullable<Operation['body']>, operation: string, view: View): string {
  const arms = content.map(({ type, value }) => {
    const theirs = inView(view, `NonNullable<${operation}['requestBody']>['content']['${type}']`)
    if (type === 'multipart/form-data') return `Declared<${theirs}>`
    return type === 'application/json' && value !== null ? theirs : `'the bytes'`
  })
  return [...arms, ...(required ? [] : ['undefined'])].join(' | ')
}

/** Returns the pairs for a handler's possible statuses, with headers and JSON for each. */
function resultPairs({ id, responses }: Operation): Pair[] {
  const ours = `handlers.${pascal(id)}Result`
  // Handlers throw errors, so a response with an error body is not a result.
  const isThrown = ({ content }: Response) => content.some(({ schema }) => isEnvelope(schema))
  const answered = responses.filter((response) => !isThrown(response))
  const thrown = responses.filter(isThrown).map(({ status }) => status)
  const statuses = {
    label: `${id} statuses`,
    ours: `${ours}['status']`,
    theirs: `Exclude<keyof written.operations['${id}']['responses'], ${thrown.join(' | ') || 'never'}>`,
  }
  return [statuses, ...answered.flatMap((response) => answerPairs(id, response))]
}

function answerPairs(id: string, { status, content }: Response): Pair[] {
  const ours = `Extract<handlers.${pascal(id)}Result, { status: ${status} }>`
  const theirs = `written.operations['${id}']['responses'][${status}]`
  const label = `${id} ${status}`
  const headers = { label: `${label} headers`, ours: `Given<${ours}>`, theirs: `Headers<${theirs}['headers']>` }
  const json = content.some(({ type, value }) => type === 'application/json' && value !== null)
  if (!json) return [headers]
  const body = inView('answered', `${theirs}['content']['application/json']`)
  return [headers, { label, ours: `Extract<${ours}, { type?: 'application/json' }>['body']`, theirs: body }]
}

function clientPairs({ id, body, parameters, responses }: Operation): Pair[] {
  const call = `client.${pascal(id)}Call`
  const theirs = `written.operations['${id}']`
  const places = (['path', 'query'] as const).filter((place) => parameters.some((parameter) => parameter.in === place))
  const given = places.map((place) => ({
    label: `${id} call ${place}`,
    ours: `NonNullable<${call}['${place}']>`,
    theirs: `Parameters<${theirs}['parameters']['${place}']>`,
  }))
  const sent =
    body === null ? [] : [{ label: `${id} call body`, ours: `${call}['body']`, theirs: bodyOf(body, theirs, 'sent') }]
  const answers = responses.flatMap(({ status, content }) =>
    status.startsWith('2') && content.some(({ type, value }) => type === 'application/json' && value !== null)
      ? [inView('answered', `written.operations['${id}']['responses'][${status}]['content']['application/json']`)]
      : [],
  )
  const answer = {
    label: `${id} answer`,
    ours: `Extract<client.${pascal(id)}Answer, { type: 'application/json' }>['body']`,
    theirs: answers.join(' | '),
  }
  return [...given, ...sent, ...(answers.length > 0 ? [answer] : [])]
}

/** Returns the pairs on refused lines. Throws if a file has an error in another line. */
function refused(checks: readonly Check[]): { pairs: number; differing: string[] }[] {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), (file) => ts.sys.readFile(file)) as {
    config: { compilerOptions: object }
  }
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root)
  const program = ts.createProgram(
    checks.map(({ file }) => file),
    options,
  )
  return checks.map(({ file, pairs, firstLine }) => {
    const source = program.getSourceFile(file)
    if (!source) throw new Error(`${file} is no part of the program`)
    const problems = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]
    const differing = problems.map(({ start = 0, code, messageText }) => {
      const { line } = source.getLineAndCharacterOfPosition(start)
      const pair = pairs[line - firstLine]
      const text = ts.flattenDiagnosticMessageText(messageText, '\n')
      if (pair === undefined || code !== notTrue) throw new Error(`${file}:${line + 1}: ${text}: ${pair?.label}`)
      return pair.label
    })
    return { pairs: pairs.length, differing }
  })
}

/** TypeScript's error: "Type … does not satisfy the constraint `true`". */
const notTrue = 2344
