/** Emits an API's client, with a method for each kind of response (JSON, audio, text, event stream). */
import { eventName } from '../../clients/interfaces.ts'
import { brackets, widthMax } from '../../clients/layout.ts'
import type { ClientAnswer, ClientMethod, ClientOperation } from '../../clients/model.ts'
import { pascalCase } from '../../clients/names.ts'
import { type Argument, argumentsOf, declared, lastArguments } from './arguments.ts'
import { methodName } from './names.ts'
import { csharpFile, documentation } from './print.ts'
import type { CsharpSurface } from './surface.ts'

const indent = '    '
/** The path before a contract's paths, if it is not empty. */
const prefixes: Readonly<Record<string, string>> = { router: '/router' }

export function emitOperations(csharp: CsharpSurface): string {
  const { name, file, operations, webhooks } = csharp.surface
  const methods = operations.flatMap((operation) =>
    operation.methods.map((each) => emitMethod(operation, each, csharp)),
  )
  const members = [...methods, ...(webhooks.length > 0 ? [verifyWebhook] : [])]
  const body = emitClient(
    `The client of the surface ${name}. It is safe for concurrent use.`,
    'Surface',
    members,
    csharp,
  )
  return csharpFile('operations', file, pascalCase(name), body)
}

/** Prints an API's class. */
export function emitClient(about: string, base: string, members: readonly string[], csharp: CsharpSurface): string {
  const name = `${pascalCase(csharp.surface.name)}Client`
  return `/// <summary>${about}</summary>
public sealed class ${name} : ${base}
{
${emitContract(csharp)}
    /// <summary>Makes a client with the settings of a connection.</summary>
    public ${name}(ParleyClient client) : base(client, Rules) { }

${members.join('\n')}}
`
}

const verifyWebhook = `    /// <summary>Checks the signature of a webhook, and reads its body. Throws a WebhookException if it is not valid.</summary>
    /// <param name="verifier">Has the secrets of the webhook.</param>
    /// <param name="header">Returns a header by its name, or null.</param>
    /// <param name="body">The bytes of the body.</param>
    public static IWebhookEvent VerifyWebhook(WebhookVerifier verifier, Func<string, string?> header, ReadOnlySpan<byte> body)
    {
        verifier.Verify(header, body);
        return ReadWebhook<IWebhookEvent>(Rules, body);
    }
`

/** Prints the constant with the contract, its retryable error codes, and the error codes for closed sockets. */
function emitContract({ surface: { name, errors, closeCodes }, style }: CsharpSurface): string {
  const rows: [code: string, row: { retryable: boolean }][] = Object.entries(errors ?? closeCodes ?? {})
  const codes = rows.flatMap(([code, { retryable }]) => (retryable ? [JSON.stringify(code)] : []))
  const closing = Object.keys(closeCodes ?? {}).map((code) => JSON.stringify(code))
  const json = `Json.${style === 'snakeCase' ? 'SnakeCase' : 'CamelCase'}`
  const head = `private static readonly Contract Rules = new("${prefixes[name] ?? ''}", ${json}, RetryableCodes, CloseCodes);\n`
  const list = (field: string, items: readonly string[]) =>
    brackets(`private static readonly HashSet<string> ${field} = Codes(`, items, ');', indent)
  return `${list('RetryableCodes', codes)}${list('CloseCodes', closing)}${indent}${head}`
}

function emitMethod(operation: ClientOperation, each: ClientMethod, csharp: CsharpSurface): string {
  const values = argumentsOf(operation, csharp)
  const { send, result } = answerOf(operation, each.answer, csharp)
  const texts = values.all.map(({ name, text }) => [name.replace('@', ''), text] as const)
  const summary = `${operation.summary}: \`${operation.method} ${operation.path}\`.`
  const obsolete = operation.isDeprecated ? `${indent}[Obsolete("see the contract")]\n` : ''
  const head = `public Task${result === '' ? '' : `<${result}>`} ${methodName(each.name)}(`
  const request = requestOf(operation, each, values.all)
  const more = [...lastArguments.names, ...terminalOf(each.answer)].join(', ')
  const start = brackets(head, [...values.ordered.map(declared), ...lastArguments.declared], ') =>', indent)
  return documentation(summary, texts, indent) + obsolete + start + statement(send, request, more)
}

/** A long statement breaks before a call's dot. */
function statement(send: string, [first = '', ...calls]: readonly string[], more: string): string {
  const inner = `${indent}    `
  const oneLine = `${inner}${send}(${[first, ...calls].join('')}, ${more});\n`
  if (oneLine.length - 1 <= widthMax) return oneLine
  const lines = calls.reduce<string[]>((printed, call) => {
    const last = printed.at(-1)
    if (last !== undefined && inner.length + 4 + last.length + call.length <= widthMax)
      return [...printed.slice(0, -1), last + call]
    return [...printed, call]
  }, [])
  const last = `${lines.at(-1) ?? first}, ${more});`
  const separator = inner.length + 4 + last.length <= widthMax ? ' ' : `\n${inner}    `
  return `${inner}${send}(${[first, ...lines].join(`\n${inner}    `)},${separator}${more});\n`
}

/** Returns the calls that describe the request: Request("POST", "/v1/agents"), .Json(body), .Idempotent(). */
function requestOf(operation: ClientOperation, each: ClientMethod, all: readonly Argument[]): string[] {
  const { method, path, isIdempotent, needsKey } = operation
  const paths = all.flatMap(({ place, name }) => (place === 'path' ? [name] : []))
  const isBinary = each.answer.kind === 'bytes' || each.answer.kind === 'text'
  return [
    `Request(${[JSON.stringify(method), JSON.stringify(path), ...paths].join(', ')})`,
    ...all.flatMap((argument) => (argument.call === null ? [] : [valueCall(argument, operation, each)])),
    ...(isBinary ? [`.Accept(${JSON.stringify(each.mediaTypes.join(', '))})`] : []),
    ...(isIdempotent ? ['.Idempotent()'] : []),
    ...resumption(each.answer),
    ...(needsKey ? [] : ['.WithoutKey()']),
  ]
}

/** One field of the body may select JSON or an event stream, and the client sets this field. */
function valueCall({ call, wire, name }: Argument, operation: ClientOperation, { setsStream }: ClientMethod): string {
  const { streamSwitch, streamValue, body } = operation
  const isSwitched = streamSwitch !== null && setsStream !== null
  const value = streamValue === true ? setsStream : streamValue
  if (wire === null) {
    const more =
      isSwitched && body?.kind === 'json' ? `, ${JSON.stringify(streamSwitch)}, ${JSON.stringify(value)}` : ''
    return `.${call}(${name}${more})`
  }
  const isSet = isSwitched && body?.kind === 'multipart' && wire === streamSwitch
  return `.${call}(${JSON.stringify(wire)}, ${isSet ? JSON.stringify(String(value)) : name})`
}

function resumption(answer: ClientAnswer): string[] {
  if (answer.kind !== 'events' || answer.identity === null) return []
  const fields = Object.entries(answer.identity).map(([event, field]) => `["${event}"] = "${field}"`)
  return [`.Resumable(new() { ${fields.join(', ')} })`]
}

function terminalOf(answer: ClientAnswer): string[] {
  if (answer.kind !== 'events' && answer.kind !== 'data') return []
  return answer.terminalEvents.filter((event) => event !== '[DONE]').map((event) => JSON.stringify(event))
}

/** Returns the engine's method, and its result's type. */
function answerOf(
  { id }: ClientOperation,
  answer: ClientAnswer,
  csharp: CsharpSurface,
): { send: string; result: string } {
  switch (answer.kind) {
    case 'none':
      return { send: 'SendEmpty', result: '' }
    case 'text':
      return { send: 'SendText', result: 'string' }
    case 'bytes':
      return { send: 'SendBytes', result: 'Download' }
    case 'json': {
      const result = csharp.typeOf(answer.use, false)
      return { send: `SendJson<${result}>`, result }
    }
    case 'data': {
      const type = csharp.typeOf(answer.use, false)
      return { send: `SendData<${type}>`, result: `EventStream<${type}>` }
    }
    case 'events': {
      const type = `I${pascalCase(eventName(id))}`
      return { send: `SendEvents<${type}>`, result: `EventStream<Event<${type}>>` }
    }
  }
}
