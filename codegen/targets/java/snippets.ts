/** Writes a program with the client for Java for each operation and each socket of the documentation. */
import type { ClientOperation, Surface } from '../../clients/model.ts'
import { pascalCase } from '../../clients/names.ts'
import type { Channel, Contract, Operation } from '../../pages/contract.ts'
import { type Sample, type SampleBody, sampleFile, sampleOf, usesFile } from '../../pages/sample.ts'
import { formName, namedParameters, paramsName } from './inputs.ts'
import { Literals } from './literals.ts'
import { variable } from './names.ts'
import { root } from './print.ts'
import { JavaSurface } from './surface.ts'
import { Interfaces } from './unions.ts'

/** Returns the programs by operation and channel. */
export function javaSnippets(surface: Surface, contract: Contract): Record<string, string> {
  const java = new JavaSurface(surface)
  // It reserves the names of interfaces, so that the other names are the client's.
  new Interfaces(java)
  const requests = contract.operations.map((operation) => [operation.id, request(operation, contract, java)])
  const sockets = contract.channels.map((channel) => [channel.id, socket(channel, java)])
  return Object.fromEntries([...requests, ...sockets]) as Record<string, string>
}

function request(operation: Operation, contract: Contract, java: JavaSurface): string {
  const found = java.surface.operations.find(({ id }) => id === operation.id)
  if (!found) throw new Error(`the model has no operation ${operation.id}`)
  const sample = sampleOf(contract, operation)
  const name = variable(found.methods[0]?.name ?? found.id)
  const call = `client.${name}(${argumentsOf(sample, found, java).join(', ')}).execute()`
  const hasFile = sample.body !== null && usesFile(sample.body)
  const file = hasFile ? `var audio = BodyPublishers.ofFile(Path.of("${sampleFile}"));\n` : ''
  return program(java.surface.name, `${file}${answered(call, found)}`)
}

/** A method without its optional arguments exists too. */
function argumentsOf({ path, query, headers, body }: Sample, operation: ClientOperation, java: JavaSurface): string[] {
  const literals = new Literals(java)
  const paths = Object.values(path).map((value) => JSON.stringify(String(value)))
  const params = namedParameters(operation)
  const values: Record<string, unknown> = { ...query, ...headers }
  const hasParams = params.some(({ name, isRequired }) => isRequired || name in values)
  const plain = params.map((field) => ({ ...field, use: field.use.kind === 'nullable' ? field.use.of : field.use }))
  const type = pascalCase(paramsName(operation.id))
  const given = hasParams ? [literals.made(type, plain, values, false)] : []
  if (operation.body === null) return [...paths, ...given]
  const needsBody = body !== null || operation.body.isRequired || hasParams
  return [...paths, ...(needsBody ? [bodyOf(body, operation, literals)] : []), ...given]
}

function bodyOf(body: SampleBody | null, { id, body: model }: ClientOperation, literals: Literals): string {
  if (body === null) return 'null'
  if (body.kind === 'file') return 'audio'
  if (body.kind === 'json') return model?.kind === 'json' ? literals.value(model.use, body.value) : 'null'
  const parts = model?.kind === 'multipart' ? model.parts : []
  const values = Object.fromEntries(body.parts.map(({ name, value }) => [name, value]))
  return literals.made(pascalCase(formName(id)), parts, values, false)
}

/** Calls the method, and prints the answer. */
function answered(call: string, { methods }: ClientOperation): string {
  switch (methods[0]?.answer.kind) {
    case undefined:
    case 'none':
      return `${call};\n`
    case 'bytes':
      return `try (var answer = ${call}) {\n    System.out.println(answer.readAllBytes().length + " bytes");\n}\n`
    case 'events':
    case 'data':
      return `try (var events = ${call}) {\n    for (var event : events) System.out.println(event);\n}\n`
    case 'json':
    case 'text':
      return `var answer = ${call};\nSystem.out.println(answer);\n`
  }
}

function socket({ id, received, address }: Channel, java: JavaSurface): string {
  const model = java.surface.channels.find((channel) => channel.id === id)
  const first = received.find(({ isBinary, examples }) => !isBinary && examples.length > 0)
  const use = model?.sends.find(({ type }) => type === first?.name)?.use ?? null
  const path = [...address.matchAll(/\{(\w+)\}/g)].map(() => '"…"')
  const query = (model?.query ?? []).map(() => 'null')
  const value = use === null ? null : new Literals(java).value(use, first?.examples[0]?.value)
  const send = value === null ? '' : `    socket.send(${value.replaceAll('\n', '\n    ')});\n`
  const open = `client.${variable(id)}(${[...path, ...query].join(', ')}).execute()`
  const frames = `    for (var frame : socket) System.out.println(frame);\n`
  return program(java.surface.name, `try (var socket = ${open}) {\n${send}${frames}}\n`)
}

const standard = [
  ...['java.io.IOException', 'java.net.http.HttpRequest.BodyPublishers', 'java.nio.file.Path', 'java.time.Instant'],
  ...['java.util.List', 'java.util.Map'],
]

function program(surface: string, statements: string): string {
  const className = pascalCase(surface)
  const client = `var client = new ${className}(ParleyClient.create(System.getenv("PARLEY_URL")));\n`
  const body = (client + statements).trimEnd().replaceAll(/^(?=.)/gm, '        ')
  const end = /readAllBytes|ofFile/.test(body) ? ' throws IOException' : ''
  const main = `    public static void main(String[] arguments)${end} {\n${body}\n    }`
  const used = standard.filter((name) => new RegExp(`\\b${name.split('.').at(-1)}\\b[. ]`).test(main))
  const ours = [`${root}.ParleyClient`, `${root}.${surface}.${className}`, `${root}.${surface}.Schemas.*`]
  return `${[...ours, ...used].map((name) => `import ${name};\n`).join('')}
public class Main {
${main}
}`
}
