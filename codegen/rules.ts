/**
 * The project's rules for OpenAPI documents, beyond OpenAPI's own rules. A rule is a function from the document to
 * findings, and each message explains how to correct the document. An API with x-error-codes is strict: more rules
 * apply to it.
 */
import {
  type Finding,
  idempotencyKey,
  type OpenApiDocument,
  type Operation,
  type Problem,
  type Response,
} from './ir.ts'
import { planParts } from './parts.ts'
import { modelRules } from './rules-models.ts'
import { operationRules } from './rules-operations.ts'
import { checkExamples, checkSchemas } from './rules-values.ts'
import { children, escapePointer, isEnvelope, refName, resolveSchema, type Schema } from './schema.ts'

type Rule = (document: OpenApiDocument) => Finding[]

const rules: Record<string, Rule> = {
  'operation-id': operationIds,
  'schema-name': schemaNames,
  scope: scopes,
  role: roles,
  'path-segment': pathSegments,
  'same-pattern': samePatterns,
  'parameter-type': parameterTypes,
  'part-order': partOrder,
  deprecation: deprecations,
  'sse-events': eventStreams,
  ...operationRules,
  ...modelRules,
}

const strictRules: Record<string, Rule> = {
  'error-envelope': errorEnvelopes,
  'error-codes': errorCodes,
  'service-region': regionHeaders,
  'idempotency-key': idempotencyKeys,
  'closed-request': closedRequests,
}

const schemaRules: Record<string, Rule> = { schema: checkSchemas }
const exampleRules: Record<string, Rule> = { example: checkExamples }

export const ruleNames = Object.keys({ ...rules, ...strictRules, ...schemaRules, ...exampleRules })

/**
 * Runs the rules in groups, because each group relies on the group before: document structure, then schemas, then
 * examples.
 */
export function checkDocument(document: OpenApiDocument): Problem[] {
  for (const stage of [{ ...rules, ...(document.errors ? strictRules : {}) }, schemaRules, exampleRules]) {
    const problems = runRules(stage, document)
    if (problems.length > 0) return problems
  }
  return []
}

export function formatProblem({ rule, file, pointer, message }: Problem): string {
  return `${file}${pointer}: ${message} [${rule}]`
}

function runRules(table: Record<string, Rule>, document: OpenApiDocument): Problem[] {
  return Object.entries(table).flatMap(([rule, check]) =>
    check(document).map((finding) => ({ rule, file: document.file, ...finding })),
  )
}

function operationIds({ operations, webhooks }: OpenApiDocument): Finding[] {
  const seen = new Map<string, string>()
  return [...operations, ...webhooks].flatMap(({ id, pointer }): Finding[] => {
    if (id === '')
      return [{ pointer, message: 'has no operationId; it names the handler, the client method and the types' }]
    if (!/^[a-z][A-Za-z0-9]*$/.test(id))
      return [{ pointer, message: `operationId ${id} is not camelCase; write it like listModels` }]
    const first = seen.get(id)
    if (first !== undefined) return [{ pointer, message: `operationId ${id} is taken by ${first}; choose another` }]
    seen.set(id, pointer)
    return []
  })
}

/**
 * Finds schemas named like an operation's response. Go generators use this name for the response's type too, so the
 * name would be declared twice.
 */
function schemaNames({ operations, schemas }: OpenApiDocument): Finding[] {
  const reservedNames = new Map(operations.map(({ id }) => [`${id}Response`.toLowerCase(), id]))
  return Object.keys(schemas).flatMap((name): Finding[] => {
    const id = reservedNames.get(name.toLowerCase())
    if (id === undefined) return []
    const message = `is what generators call the answer of the operation ${id}; give the schema another name`
    return [{ pointer: `#/components/schemas/${escapePointer(name)}`, message }]
  })
}

function scopes({ operations, scopes }: OpenApiDocument): Finding[] {
  return operations.flatMap(({ secured, scope, pointer }): Finding[] => {
    if (secured && scope === null) {
      return [
        {
          pointer,
          message: 'needs a key but says no x-scope; name the scope that the key must carry, or set security: []',
        },
      ]
    }
    if (!secured && scope !== null)
      return [{ pointer, message: `has x-scope ${scope} but needs no key; remove one of the two` }]
    return scope === null ? [] : unknownScope(scope, scopes, pointer)
  })
}

function roles({ operations, roles }: OpenApiDocument): Finding[] {
  return operations.flatMap(({ secured, role, pointer }): Finding[] => {
    if (secured) return roleFindings(role, roles, pointer)
    return role === null ? [] : [{ pointer, message: `has x-role ${role} but needs no key; remove one of the two` }]
  })
}

/** `none` is not a role. It says that users may not use an operation or a channel. */
export function roleFindings(role: string | null, roles: readonly string[], pointer: string): Finding[] {
  if (role === null)
    return [{ pointer, message: 'says no x-role; name the lowest role of a user that may use it, or none' }]
  if (role === 'none' || roles.includes(role)) return []
  const message = `x-role ${role} is not in the schema Role of specs/shared.yaml; it has ${roles.join(', ')}`
  return [{ pointer, message }]
}

export function unknownScope(scope: string, scopes: readonly string[], pointer: string): Finding[] {
  if (scopes.includes(scope)) return []
  const message = `x-scope ${scope} is not in the schema Scope of specs/shared.yaml; it has ${scopes.join(', ')}`
  return [{ pointer, message }]
}

/**
 * Checks the paths for uWebSockets.js: ':' and '*' have a special meaning in patterns, and a parameter must fill a
 * whole segment.
 */
function pathSegments({ operations }: OpenApiDocument): Finding[] {
  const paths = [...new Set(operations.map((operation) => operation.path))]
  return paths.flatMap((path): Finding[] => {
    const pointer = `#/paths/${escapePointer(path)}`
    const segments = path.split('/')
    if (/[:*]/.test(path))
      return [{ pointer, message: "has a literal ':' or '*', which the router takes for its own; spell it otherwise" }]
    const partial = segments.find((segment) => /[{}]/.test(segment) && !/^\{\w+\}$/.test(segment))
    if (partial === undefined) return []
    return [
      { pointer, message: `segment ${partial} is only partly a parameter; let the parameter fill the whole segment` },
    ]
  })
}

/**
 * Finds paths that differ only in parameter names, because uWebSockets.js would silently replace the first path's
 * handler with the second path's handler.
 */
function samePatterns({ operations }: OpenApiDocument): Finding[] {
  const seen = new Map<string, string>()
  return [...new Set(operations.map((operation) => operation.path))].flatMap((path) => {
    const pattern = path.replaceAll(/\{[^}]*\}/g, '{}')
    const first = seen.get(pattern)
    seen.set(pattern, first ?? path)
    if (first === undefined) return []
    return [
      {
        pointer: `#/paths/${escapePointer(path)}`,
        message: `differs from ${first} only in the parameter's name; use one of the two`,
      },
    ]
  })
}

/**
 * Checks the parameters' types. The engine parses only query values by type. A value in a path or a header stays text,
 * unless the header contains JSON.
 */
function parameterTypes({ operations, schemas }: OpenApiDocument): Finding[] {
  return operations.flatMap(({ parameters }) =>
    parameters.flatMap(({ in: where, name, schema, content, bytesMax, pointer }): Finding[] => {
      if (content !== null) {
        const isNamed = typeof schema === 'object' && schema.$ref !== undefined
        if (where === 'header' && content.type === 'application/json' && isNamed && bytesMax !== null) return []
        const message =
          'content stands only in a header: application/json that refers to a component, with x-max-bytes beside it'
        return [{ pointer, message: `${where} parameter ${name} is described by content; ${message}` }]
      }
      const target = resolveSchema(schemas, schema)
      const type = typeof target === 'object' ? target.type : undefined
      if (where === 'query' || type === 'string') return []
      return [{ pointer, message: `${where} parameter ${name} is not of type string; bound it with a pattern instead` }]
    }),
  )
}

function partOrder({ operations, schemas }: OpenApiDocument): Finding[] {
  const uploads = operations.flatMap(({ body }) => body?.content.filter((m) => m.type === 'multipart/form-data') ?? [])
  return uploads.flatMap((media): Finding[] => {
    const { pointer, partOrder: order } = media
    const target = resolveSchema(schemas, media.schema ?? true)
    const names = Object.keys((typeof target === 'object' && target.properties) || {})
    if (order && [...order].sort().join() !== [...names].sort().join()) {
      return [
        {
          pointer,
          message: `x-part-order lists ${order.join(', ')} but the schema has ${names.join(', ')}; list each part once`,
        },
      ]
    }
    const parts = planParts(media, schemas)
    const json = parts.filter(({ kind }) => kind === 'json')
    const text = parts.filter(({ kind }) => kind === 'text')
    if (json.length > 1) {
      const names = json.map(({ name }) => name).join(', ')
      return [{ pointer, message: `has ${json.length} JSON parts (${names}); put them into one` }]
    }
    if (json.length === 0 || text.length === 0) return []
    const texts = text.map(({ name }) => name).join(', ')
    return [{ pointer, message: `has a JSON part and text parts (${texts}); move the text into the JSON` }]
  })
}

function deprecations({ operations }: OpenApiDocument): Finding[] {
  return operations.flatMap(({ deprecated, deprecation, pointer }) =>
    deprecated === (deprecation !== null)
      ? []
      : [
          {
            pointer,
            message: 'deprecated and x-deprecation {deprecatedAt, sunset, link} go together; give both or neither',
          },
        ],
  )
}

function eventStreams({ operations, schemas }: OpenApiDocument): Finding[] {
  const media = operations.flatMap(({ responses }) => responses.flatMap((response) => response.content))
  return media.flatMap(({ type, schema, events, eventData, pointer }): Finding[] => {
    if (type !== 'text/event-stream') return []
    if (schema !== null)
      return [{ pointer, message: 'has a schema, which test tools apply to each event; leave it out' }]
    if (eventData !== null) {
      if (eventData in schemas && Object.keys(events).length === 0) return []
      return [{ pointer, message: 'x-sse-data must name a component, and stands alone: frames have names or none' }]
    }
    if (Object.keys(events).length === 0) {
      const message =
        'lists no x-sse-events; map each event to its component, or name that of every frame in x-sse-data'
      return [{ pointer, message: `an event stream ${message}` }]
    }
    const unknown = Object.entries(events).filter(([, component]) => !(component in schemas))
    return unknown.map(([event, component]) => ({
      pointer,
      message: `event ${event} names ${component}, which is not in components/schemas; add it or correct the name`,
    }))
  })
}

function errorEnvelopes({ operations }: OpenApiDocument): Finding[] {
  return allResponses(operations).flatMap(({ status, content, pointer }) =>
    status.startsWith('2') ||
    isRedirect(status, content) ||
    (content.length > 0 && content.every((media) => isEnvelope(media.schema)))
      ? []
      : [{ pointer, message: 'is not a 2xx, so its body must be ErrorEnvelope; refer to a shared response' }],
  )
}

/** A redirect needs no body, because the client goes to its Location. */
function isRedirect(status: string, content: readonly unknown[]): boolean {
  return status.startsWith('3') && content.length === 0
}

function errorCodes({ errors, schemas }: OpenApiDocument): Finding[] {
  const schema = schemas.ErrorCode
  const listed = (typeof schema === 'object' && schema.enum) || []
  const codes = Object.keys(errors ?? {})
  const missing = codes.filter((code) => !listed.includes(code))
  const surplus = listed.filter((code) => !codes.includes(String(code)))
  const rows = Object.entries(errors ?? {}).filter(
    ([, row]) => !row.type || !row.message || !/^[^\r\n]{1,512}$/.test(row.hint),
  )
  return [
    ...missing.map((code) => ({
      pointer: '#/components/schemas/ErrorCode',
      message: `lacks ${code} of x-error-codes; add it`,
    })),
    ...surplus.map((code) => ({
      pointer: '#/components/schemas/ErrorCode',
      message: `has ${String(code)}, which is not in x-error-codes; add its row or remove it`,
    })),
    ...rows.map(([code]) => ({
      pointer: `#/x-error-codes/${code}`,
      message: 'needs a type, a message and a hint of one line and at most 512 characters',
    })),
  ]
}

function regionHeaders({ operations }: OpenApiDocument): Finding[] {
  return allResponses(operations)
    .filter(({ headers }) => !headers.some((header) => header.name === 'Service-Region'))
    .map(({ pointer }) => ({
      pointer,
      message: 'does not declare Service-Region, which is on every answer; add the header',
    }))
}

/**
 * Finds POST operations without an Idempotency-Key. With `x-posts-without-key` the document states why a repeated POST
 * does no harm there.
 */
function idempotencyKeys({ operations, source }: OpenApiDocument): Finding[] {
  if (source['x-posts-without-key'] === true) return []
  return operations
    .filter(({ method, parameters }) => {
      const key = parameters.find((parameter) => parameter.in === 'header' && parameter.name === idempotencyKey)
      return method === 'post' && !(key?.required && key.bytesMax !== null)
    })
    .map(({ pointer }) => ({
      pointer,
      message: 'is a POST without a required Idempotency-Key that has x-max-bytes; refer to the shared parameter',
    }))
}

/**
 * Finds request schemas that allow unknown fields. The server refuses unknown fields by name, so each schema must list
 * its fields and forbid all others.
 */
function closedRequests({ operations, schemas }: OpenApiDocument): Finding[] {
  const seen = new Set<string>()
  const visit = (schema: Schema, pointer: string, isClosedAbove: boolean): Finding[] => {
    if (typeof schema === 'boolean') return []
    if (schema.$ref !== undefined) {
      const name = refName(schema.$ref)
      if (seen.has(name)) return []
      seen.add(name)
      return visit(schemas[name] ?? true, `#/components/schemas/${escapePointer(name)}`, isClosedAbove)
    }
    const closes = schema.unevaluatedProperties === false
    const here =
      isOpen(schema) && !isClosedAbove && !closes
        ? [{ pointer, message: openMessage(schema.properties !== undefined) }]
        : []
    const inner = children(schema).flatMap(({ schema: child, path }) =>
      visit(child, `${pointer}/${path.map(escapePointer).join('/')}`, closes && path[0] === 'allOf'),
    )
    return [...here, ...inner]
  }
  const media = operations.flatMap(({ body, parameters }) => [
    ...(body?.content ?? []),
    ...parameters.flatMap(({ content }) => content ?? []),
  ])
  return media.flatMap(({ schema, pointer }) => visit(schema ?? true, `${pointer}/schema`, false))
}

function isOpen(schema: Exclude<Schema, boolean>): boolean {
  // An explicit `true` means that any field name has a meaning, as in metadata.
  if (schema.properties) return schema.additionalProperties !== false && schema.additionalProperties !== true
  // A union's branches are visited one by one.
  if (schema.oneOf || schema.anyOf) return false
  return schema.type === 'object' && schema.additionalProperties === undefined
}

function openMessage(hasProperties: boolean): string {
  return hasProperties
    ? 'takes unknown fields in a request; set additionalProperties: false'
    : 'does not say what it may hold; set additionalProperties to a schema, true or false'
}

function allResponses(operations: Operation[]): Response[] {
  return operations.flatMap((operation) => operation.responses)
}
