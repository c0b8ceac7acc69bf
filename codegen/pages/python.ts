/** Writes snippets for a request and for a socket with the generated client for Python. */
import { idempotencyKey } from '../ir.ts'
import { pythonName, literal as scalar } from '../targets/python/print.ts'
import type { Channel, Contract } from './contract.ts'
import { literal, object, type Syntax } from './literal.ts'
import { type Sample, type SampleBody, sampleFile, usesFile } from './sample.ts'

const syntax: Syntax = { text: scalar, constant: scalar, key: scalar, indent: '    ', padding: '' }

export function pythonRequest(sample: Sample): string {
  const { operation, surface, path, body, answerType } = sample
  const given = [
    ...Object.values(path).map((value) => literal(String(value), '', syntax)),
    ...(body === null ? [] : [bodyText(body)]),
    ...named(sample),
  ]
  const call = `${surface}.${pythonName(operation.id)}(${given.join(', ')})`
  const isStream = answerType === 'text/event-stream'
  return [
    imports(surface, body !== null && usesFile(body)),
    client(surface),
    isStream ? `with ${call} as events:\n    for event in events:\n        print(event)` : printed(call, sample),
  ].join('\n')
}

export function pythonSocket(channel: Channel, { name }: Contract): string {
  const parameters = [...channel.address.matchAll(/\{(\w+)\}/g)].map(() => '"…"')
  const first = channel.received.find(({ isBinary, examples }) => !isBinary && examples.length > 0)
  const sent = first === undefined ? [] : [`    socket.send(${literal(first.examples[0]?.value, '    ', syntax)})`]
  return [
    imports(name, false),
    client(name),
    `with ${name}.${pythonName(channel.id)}(${parameters.join(', ')}) as socket:`,
    ...sent,
    '    for frame in socket:',
    '        print(frame)',
  ].join('\n')
}

function imports(surface: string, hasFile: boolean): string {
  const path = hasFile ? 'from pathlib import Path\n' : ''
  return `import os\n${path}\nfrom parley import ${className(surface)}\n`
}

const className = (surface: string) => surface.charAt(0).toUpperCase() + surface.slice(1)

const client = (surface: string) =>
  `${surface} = ${className(surface)}(os.environ["PARLEY_URL"], os.environ["PARLEY_API_KEY"])`

function printed(call: string, { answerType, answersBytes }: Sample): string {
  if (answerType === null) return call
  return `answer = ${call}\n${answersBytes ? 'print(len(answer), "bytes")' : 'print(answer)'}`
}

/**
 * Returns query parameters and headers as keyword arguments. Omits the idempotency key, because the client makes it.
 */
function named({ query, headers, body }: Sample): string[] {
  const all = [...Object.entries(query), ...Object.entries(headers)].filter(([name]) => name !== idempotencyKey)
  const type = body?.kind === 'file' ? [`content_type=${scalar(body.type)}`] : []
  return [...all.map(([name, value]) => `${pythonName(name)}=${literal(value, '', syntax)}`), ...type]
}

const file = `Path("${sampleFile}").read_bytes()`

function bodyText(body: SampleBody): string {
  if (body.kind === 'json') return literal(body.value, '', syntax)
  if (body.kind === 'file') return file
  const parts = body.parts.map(({ name, kind, value }) => {
    return `${scalar(name)}: ${kind === 'file' ? file : literal(value, '    ', syntax)}`
  })
  return object(parts, '', syntax)
}
