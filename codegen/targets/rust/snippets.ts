/** Writes the documentation's Rust snippets: a program with the client for each operation and each socket. */
import type { ClientChannel, ClientOperation, Surface } from '../../clients/model.ts'
import { type Sample, type SampleBody, sampleFile, usesFile } from '../../pages/sample.ts'
import { hasOwnQuery, type Programs, partValues, type Sent } from '../programs.ts'
import { formName, paramsName } from './inputs.ts'
import { Literals, call as printCall } from './literals.ts'
import { RustModule } from './module.ts'
import { variable, variant } from './names.ts'

export function rustPrograms(surface: Surface): Programs {
  const module = new RustModule(surface)
  return {
    request: (operation, sample) => request(operation, sample, module),
    socket: (model, sent) => socket(model, sent, module),
  }
}

function request(operation: ClientOperation, sample: Sample, module: RustModule): string {
  const name = variable(operation.methods[0]?.name ?? operation.id)
  const call = `${printCall(`client.${name}`, argumentsOf(sample, operation, module))}.await?`
  const hasFile = sample.body !== null && usesFile(sample.body)
  const file = hasFile ? `let audio = Audio::file("${sampleFile}");\n` : ''
  return program(module.surface.name, `${file}${answered(call, operation)}`)
}

function argumentsOf({ path, query, headers, body }: Sample, operation: ClientOperation, module: RustModule): string[] {
  const literals = new Literals(module)
  const paths = Object.values(path).map((value) => JSON.stringify(String(value)))
  const bodies = operation.body ? [bodyOf(body, operation, literals)] : []
  const params = operation.parameters.filter((parameter) => parameter.in !== 'path')
  const made = literals.made(paramsName(operation.id), params, { ...query, ...headers }, true)
  return [...paths, ...bodies, ...(params.length > 0 ? [`&${made}`] : [])]
}

function bodyOf(body: SampleBody | null, { id, body: model }: ClientOperation, literals: Literals): string {
  if (body === null) return 'None'
  if (body.kind === 'file') return 'audio'
  if (body.kind === 'json') {
    const text = model?.kind === 'json' ? `&${literals.value(model.use, body.value)}` : 'None'
    return model?.isRequired ? text : `Some(${text})`
  }
  const parts = model?.kind === 'multipart' ? model.parts : []
  return literals.made(formName(id), parts, partValues(body), false)
}

/** Calls the method, and prints the answer. */
function answered(call: string, { methods }: ClientOperation): string {
  switch (methods[0]?.answer.kind) {
    case undefined:
    case 'none':
      return `${call};\n`
    case 'bytes':
      return `let answer = ${call}.bytes().await?;\nprintln!("{} bytes", answer.len());\n`
    case 'events':
    case 'data':
      return `let mut events = ${call};\nwhile let Some(event) = events.next().await {\n    println!("{:?}", event?);\n}\n`
    case 'json':
    case 'text':
      return `let answer = ${call};\nprintln!("{answer:?}");\n`
  }
}

function socket(model: ClientChannel, sent: Sent | null, module: RustModule): string {
  const path = model.parameters.map(() => '"…"')
  const query = hasOwnQuery(model) ? ['&[]'] : []
  const value = sent && new Literals(module).value(sent.use, sent.value)
  const send = value === null ? '' : `${printCall('socket.send', [value])}.await?;\n`
  const open = `let socket = ${printCall(`client.${variable(model.id)}`, [...path, ...query])}.await?;\n`
  const frames = 'while let Some(frame) = socket.next().await {\n    println!("{:?}", frame?);\n}\n'
  return program(module.surface.name, open + send + frames)
}

function program(surface: string, statements: string): string {
  const body = `let connection = Client::builder(&std::env::var("PARLEY_URL")?).build()?;
let client = ${variant(surface)}::new(&connection);
${statements}`
  const usesOf = (names: readonly string[]) => names.filter((name) => new RegExp(`\\b${name}(::|!)`).test(body))
  const json = usesOf(['Map', 'json'])
  const imports = [
    ...usesOf(['BTreeMap']).map(() => 'use std::collections::BTreeMap;\n'),
    `use parley::{${[...usesOf(['Audio', 'Client', 'Nullable']), `${surface}::*`].join(', ')}};\n`,
    ...(json.length > 0 ? [`use serde_json::{${json.join(', ')}};\n`.replace(/\{(\w+)\}/, '$1')] : []),
  ]
  return `${imports.join('')}
#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
${body.trimEnd().replaceAll(/^(?=.)/gm, '    ')}
    Ok(())
}`
}
