/** Writes the documentation's Java snippets: a program with the client for each operation and each socket. */
import type { ClientChannel, ClientOperation, Surface } from '../../clients/model.ts'
import { pascalCase } from '../../clients/names.ts'
import { type Sample, type SampleBody, sampleFile, usesFile } from '../../pages/sample.ts'
import { type Programs, partValues, type Sent } from '../programs.ts'
import { formName, namedParameters, paramsName } from './inputs.ts'
import { Literals } from './literals.ts'
import { variable } from './names.ts'
import { root } from './print.ts'
import { JavaSurface } from './surface.ts'
import { Interfaces } from './unions.ts'

export function javaPrograms(surface: Surface): Programs {
  const java = new JavaSurface(surface)
  // The constructor takes the interfaces' names. Without it, other types would get other names here than in the client.
  new Interfaces(java)
  return {
    request: (operation, sample) => request(operation, sample, java),
    socket: (model, sent) => socket(model, sent, java),
  }
}

function request(operation: ClientOperation, sample: Sample, java: JavaSurface): string {
  const name = variable(operation.methods[0]?.name ?? operation.id)
  const call = `client.${name}(${argumentsOf(sample, operation, java).join(', ')}).execute()`
  const hasFile = sample.body !== null && usesFile(sample.body)
  const file = hasFile ? `var audio = BodyPublishers.ofFile(Path.of("${sampleFile}"));\n` : ''
  return program(java.surface.name, `${file}${answered(call, operation)}`)
}

/** Optional arguments are left out if they are empty, because the client has a method without them too. */
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
  return literals.made(pascalCase(formName(id)), parts, partValues(body), false)
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

function socket(model: ClientChannel, sent: Sent | null, java: JavaSurface): string {
  const path = model.parameters.map(() => '"…"')
  const query = model.query.map(() => 'null')
  const value = sent && new Literals(java).value(sent.use, sent.value)
  const send = value === null ? '' : `    socket.send(${value.replaceAll('\n', '\n    ')});\n`
  const open = `client.${variable(model.id)}(${[...path, ...query].join(', ')}).execute()`
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
