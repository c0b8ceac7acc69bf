/** Emits an API's client, with a method for each kind of response (JSON, audio, text, event stream). */
import type { ClientAnswer, ClientField, ClientMethod, ClientOperation } from '../../clients/model.ts'
import { comment, goFile } from './format.ts'
import { emitForm, emitParams, paramsName } from './inputs.ts'
import { exported, local, pathOf } from './names.ts'
import type { GoPackage } from './package.ts'
import { goType } from './types.ts'

const widthMax = 140

export function emitOperations(goPackage: GoPackage): string | null {
  const { name, prefix, operations, errors } = goPackage.surface
  if (operations.length === 0) return null
  const fields = [...(prefix === '' ? [] : [`Prefix: "${prefix}"`]), ...(errors ? ['ErrorRows: errorRows'] : [])]
  const client = `// Client calls the operations of the surface ${name}.
type Client struct{ surface parley.Surface }

// New returns a client for the surface with the settings of a connection.
func New(client *parley.Client) *Client {
	return &Client{parley.Surface{${fields.join(', ')}}.On(client)}
}`
  const methods = operations.flatMap((operation) => [
    ...emitParams(operation, goPackage),
    ...emitForm(operation, goPackage),
    ...operation.methods.map((method) => emitMethod(operation, method, goPackage)),
  ])
  return goFile('operations', goPackage.surface, [client, ...methods])
}

function emitMethod(operation: ClientOperation, method: ClientMethod, goPackage: GoPackage): string {
  const name = exported(method.name)
  const doc = comment(`${name} sends ${operation.method} ${operation.path}: ${lower(operation.summary)}.`)
  const deprecated = operation.isDeprecated ? '//\n// Deprecated: see the contract.\n' : ''
  const { call, result } = callOf(operation, method, goPackage)
  const inputs = ['ctx context.Context', ...argumentsOf(operation, goPackage), 'options ...parley.CallOption']
  const switched = switchOf(operation, method, goPackage)
  return `${doc}${deprecated}func (c *Client) ${name}(${inputs.join(', ')}) ${result} {
${switched}${emitCall(call, requestOf(operation, method), decoderOf(method, operation, goPackage))}
}`
}

const lower = (text: string) => text.charAt(0).toLowerCase() + text.slice(1)

function argumentsOf({ id, parameters, body }: ClientOperation, goPackage: GoPackage): string[] {
  const path = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => `${local(name)} string`)
  const others = parameters.filter((parameter) => parameter.in !== 'path')
  const pointer = others.some(({ isRequired }) => isRequired) ? '' : '*'
  const params = others.length > 0 ? [`params ${pointer}${paramsName(id)}`] : []
  if (body === null) return [...path, ...params]
  if (body.kind === 'multipart') return [...path, `form ${exported(id)}Form`, ...params]
  if (body.kind === 'bytes') return [...path, 'body io.Reader', ...params]
  return [...path, `body ${body.isRequired ? '' : '*'}${goType(body.use, goPackage)}`, ...params]
}

/** Returns the statement that sets the request's field to select JSON or an event stream. */
function switchOf(
  { streamSwitch, streamValue, body }: ClientOperation,
  { setsStream }: ClientMethod,
  goPackage: GoPackage,
): string {
  if (streamSwitch === null || setsStream === null || body === null) return ''
  const field = fieldsOf(body, goPackage).find(({ name }) => name === streamSwitch)
  if (!field) throw new Error(`the body has no field ${streamSwitch}`)
  const isNullable = body.kind === 'json' && field.use.kind === 'nullable'
  const inner = field.use.kind === 'nullable' ? field.use.of : field.use
  const literal = streamValue === true ? String(setsStream) : JSON.stringify(streamValue)
  const value = inner.kind === 'named' ? `${goPackage.goName(inner.name)}(${literal})` : literal
  const holder = body.kind === 'multipart' ? 'form' : 'body'
  return `\t${holder}.${exported(streamSwitch)} = parley.${isNullable ? 'Value' : 'Ptr'}(${value})\n`
}

function fieldsOf(body: NonNullable<ClientOperation['body']>, goPackage: GoPackage): readonly ClientField[] {
  if (body.kind === 'multipart') return body.parts
  const declaration = body.kind === 'json' && body.use.kind === 'named' ? goPackage.declaration(body.use.name) : null
  return declaration?.kind === 'object' ? declaration.fields : []
}

/** Returns an expression such as parley.Post("/v1/agents").JSON(body).Idempotent(). */
function requestOf(
  { method, path, parameters, body, isIdempotent, needsKey }: ClientOperation,
  { answer, mediaTypes }: ClientMethod,
): string {
  const isBinary = answer.kind === 'bytes' || answer.kind === 'text'
  return [
    `parley.${exported(method)}(${pathOf(path)})`,
    ...(parameters.some((parameter) => parameter.in !== 'path') ? ['Params(params)'] : []),
    ...(body ? [{ json: 'JSON(body)', multipart: 'Form(form)', bytes: 'Reader(body)' }[body.kind]] : []),
    ...(isBinary ? [`Accept(${JSON.stringify(mediaTypes.join(', '))})`] : []),
    ...(isIdempotent ? ['Idempotent()'] : []),
    ...(needsKey ? [] : ['Public()']),
    ...(answer.kind === 'events' && answer.identity !== null ? [`Resumable(${stringMap(answer.identity)})`] : []),
  ].join('.')
}

const stringMap = (fields: Record<string, string>) =>
  `map[string]string{${Object.entries(fields)
    .map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`)
    .join(', ')}}`

function callOf(
  { id }: ClientOperation,
  { answer }: ClientMethod,
  goPackage: GoPackage,
): { call: string; result: string } {
  switch (answer.kind) {
    case 'none':
      return { call: 'parley.Empty(ctx, c.surface', result: 'error' }
    case 'text':
      return { call: 'parley.Text(ctx, c.surface', result: '(string, error)' }
    case 'bytes':
      return { call: 'parley.Bytes(ctx, c.surface', result: '(*parley.Download, error)' }
    case 'json': {
      const type = pointerTo(goType(answer.use, goPackage))
      return { call: `parley.JSON[${type}](ctx, c.surface`, result: `(${type}, error)` }
    }
    case 'data':
      return { call: 'parley.Data(ctx, c.surface', result: `(*parley.Stream[${goType(answer.use, goPackage)}], error)` }
    case 'events':
      return {
        call: 'parley.Events(ctx, c.surface',
        result: `(*parley.Stream[parley.Event[${exported(id)}Event]], error)`,
      }
  }
}

const pointerTo = (type: string) => (/^(\[|map|any|string|int|float|bool)/.test(type) ? type : `*${type}`)

function decoderOf({ answer }: ClientMethod, { id }: ClientOperation, goPackage: GoPackage): string {
  if (answer.kind === 'events') return [`, decode${exported(id)}Event`, ...lastEvents(answer)].join(', ')
  if (answer.kind !== 'data') return ''
  const type = goType(answer.use, goPackage)
  const decode = goPackage.isUnion(answer.use) ? `decode${type}` : `wire.Decode[${type}]`
  return [`, ${decode}`, ...lastEvents(answer)].join(', ')
}

const lastEvents = ({ terminalEvents }: ClientAnswer & { kind: 'events' | 'data' }) =>
  terminalEvents.filter((event) => event !== '[DONE]').map((event) => JSON.stringify(event))

function emitCall(call: string, request: string, decoder: string): string {
  // gofmt leaves out the spaces around the operator in a call with several arguments.
  const line = `\treturn ${call}, ${request.replaceAll(' + ', '+')}, options${decoder})`
  if (line.length + 3 <= widthMax) return line
  return `\trequest := ${request}\n\treturn ${call}, request, options${decoder})`
}
