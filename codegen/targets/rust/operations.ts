/** Emits an API's client, with a method for each kind of response (JSON, audio, text, event stream). */
import type { ClientMethod, ClientOperation } from '../../clients/model.ts'
import { documentation, method as printMethod, rustFile } from './format.ts'
import { declareForm, declareParams, formName, formOf, paramsName } from './inputs.ts'
import type { RustModule } from './module.ts'
import { variable, variant } from './names.ts'
import { emitDeclared } from './structs.ts'
import { eventsName } from './unions.ts'

const lineMax = 112

export function emitOperations(module: RustModule): string | null {
  const { name, prefix, operations, errors, file } = module.surface
  if (operations.length === 0) return null
  const inputs = operations.flatMap((operation) => [
    ...declareParams(operation, module),
    ...declareForm(operation, module),
  ])
  const methods = operations.flatMap((operation) =>
    operation.methods.map((method) => emitMethod(operation, method, module)),
  )
  const type = variant(name)
  const client = `/// Calls the operations of the surface \`${name}\`. A clone is cheap.
#[derive(Clone, Debug)]
pub struct ${type} {
    surface: Surface,
}

impl ${type} {
    /// Makes a client for the surface with the settings of a connection.
    pub fn new(client: &Client) -> Self {
        Self { surface: Surface::new(client, ${JSON.stringify(prefix)}, ${errors ? 'error_rows' : '|_| None'}) }
    }

    /// Returns a client with other settings for its calls.
    pub fn with(&self, options: CallOptions) -> Self {
        Self { surface: self.surface.with(options) }
    }

${methods.join('\n\n')}
}`
  return rustFile('operations', file, 'use super::*;\n', [client, ...emitDeclared(inputs)])
}

function emitMethod(operation: ClientOperation, method: ClientMethod, module: RustModule): string {
  const summary = operation.summary.replace(/\.$/, '')
  const doc = documentation(`${summary} (\`${operation.method} ${operation.path}\`).`, '    ')
  const deprecated = operation.isDeprecated ? '    #[deprecated(note = "see the contract")]\n' : ''
  const { call, result, more } = callOf(operation, method, module)
  const inputs = ['&self', ...argumentsOf(operation, module)].join(', ')
  const header = `pub async fn ${variable(method.name)}(${inputs}) -> Result<${result}>`
  const request = requestOf(operation, method)
  const oneLine = `self.surface.${call}(${request}${more}).await`
  const isShort = oneLine.length <= lineMax && !oneLine.includes('\n')
  const form = formStatement(operation, method)
  const statements = isShort ? [oneLine] : [`let request = ${request};`, `self.surface.${call}(request${more}).await`]
  return doc + deprecated + printMethod(header, [...form, ...statements])
}

function argumentsOf({ id, parameters, body }: ClientOperation, module: RustModule): string[] {
  const path = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => `${variable(name)}: &str`)
  const hasParams = parameters.some((parameter) => parameter.in !== 'path')
  const params = hasParams ? [`params: &${paramsName(id)}`] : []
  if (body === null) return [...path, ...params]
  if (body.kind === 'multipart') return [...path, `form: ${formName(id)}`, ...params]
  if (body.kind === 'bytes') return [...path, 'audio: impl Into<Audio>', ...params]
  const type = `&${module.typeOf(body.use)}`
  return [...path, `body: ${body.isRequired ? type : `Option<${type}>`}`, ...params]
}

/** Returns an expression such as `Request::post("/v1/agents").json(Some(body)).idempotent()`. */
function requestOf(operation: ClientOperation, { answer, mediaTypes, setsStream }: ClientMethod): string {
  const { method, path, parameters, isIdempotent, needsKey } = operation
  const inPath = parameters.filter((parameter) => parameter.in === 'path')
  const headers = parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => JSON.stringify(name))
  const isBinary = answer.kind === 'bytes' || answer.kind === 'text'
  return [
    `Request::${method.toLowerCase()}(${JSON.stringify(path)})`,
    ...inPath.map(({ name }) => `path(${JSON.stringify(name)}, ${variable(name)})`),
    ...(inPath.length < parameters.length ? [`params(params, &[${headers.join(', ')}])`] : []),
    ...bodyCall(operation, setsStream),
    ...(isBinary ? [`accept(${JSON.stringify(mediaTypes.join(', '))})`] : []),
    ...(isIdempotent ? ['idempotent()'] : []),
    ...(needsKey ? [] : ['public()']),
    ...(answer.kind === 'events' && answer.identity !== null ? [`resumable(&[${pairs(answer.identity)}])`] : []),
  ].join('.')
}

const pairs = (fields: Record<string, string>) =>
  Object.entries(fields)
    .map(([name, value]) => `(${JSON.stringify(name)}, ${JSON.stringify(value)})`)
    .join(', ')

function bodyCall({ body, streamSwitch, streamValue }: ClientOperation, setsStream: boolean | null): string[] {
  if (body === null) return []
  if (body.kind === 'multipart') return ['form(form)']
  if (body.kind === 'bytes') return ['audio(audio.into())']
  if (streamSwitch !== null && setsStream !== null) {
    const value = streamValue === true ? String(setsStream) : JSON.stringify(streamValue)
    return [`json_with(body, ${JSON.stringify(streamSwitch)}, ${value})`]
  }
  return [body.isRequired ? 'json(Some(body))' : 'json(body)']
}

function formStatement({ body, streamSwitch, streamValue }: ClientOperation, { setsStream }: ClientMethod): string[] {
  if (body?.kind !== 'multipart') return []
  const value = streamValue === true ? String(setsStream) : JSON.stringify(streamValue)
  return [`let form = ${formOf(body.parts, setsStream === null ? null : streamSwitch, value)};`]
}

function callOf(
  { id }: ClientOperation,
  { answer }: ClientMethod,
  module: RustModule,
): { call: string; result: string; more: string } {
  switch (answer.kind) {
    case 'none':
      return { call: 'empty', result: '()', more: '' }
    case 'text':
      return { call: 'text', result: 'String', more: '' }
    case 'bytes':
      return { call: 'bytes', result: 'Download', more: '' }
    case 'json':
      return { call: 'json', result: module.typeOf(answer.use), more: '' }
    case 'data':
      return { call: 'data', result: `EventStream<${module.typeOf(answer.use)}>`, more: last(answer.terminalEvents) }
    case 'events':
      return { call: 'events', result: `EventStream<Event<${eventsName(id)}>>`, more: last(answer.terminalEvents) }
  }
}

const last = (names: readonly string[]) =>
  `, &[${names
    .filter((name) => name !== '[DONE]')
    .map((name) => JSON.stringify(name))
    .join(', ')}]`
