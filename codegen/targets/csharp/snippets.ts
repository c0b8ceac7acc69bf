/** Writes the documentation's C# snippets: a program with the client for each operation and each socket. */
import type { ClientChannel, ClientOperation, Surface } from '../../clients/model.ts'
import { pascalCase } from '../../clients/names.ts'
import { type Sample, sampleFile, usesFile } from '../../pages/sample.ts'
import { type Programs, partValues, type Sent } from '../programs.ts'
import { type Argument, argumentsOf } from './arguments.ts'
import { group, Literals } from './literals.ts'
import { methodName } from './names.ts'
import { CsharpSurface } from './surface.ts'
import { Interfaces } from './unions.ts'

export function csharpPrograms(surface: Surface): Programs {
  const csharp = new CsharpSurface(surface)
  // The constructor takes the interfaces' names. Without it, other types would get other names here than in the client.
  new Interfaces(csharp)
  return {
    request: (operation, sample) => request(operation, sample, csharp),
    socket: (model, sent) => socket(model, sent, csharp),
  }
}

function request(operation: ClientOperation, sample: Sample, csharp: CsharpSurface): string {
  const name = methodName(operation.methods[0]?.name ?? operation.id)
  const call = group(`client.${name}(`, argumentTexts(sample, operation, csharp), ')')
  const hasFile = sample.body !== null && usesFile(sample.body)
  const file = hasFile ? `var audio = Upload.FromFile("${sampleFile}");\n` : ''
  return program(csharp.surface.name, `${file}${answered(call, operation)}`)
}

/** Optional arguments are named, and left out without a value. */
function argumentTexts(sample: Sample, operation: ClientOperation, csharp: CsharpSurface): string[] {
  const literals = new Literals(csharp)
  return argumentsOf(operation, csharp).ordered.flatMap((argument) => {
    const value = valueOf(argument, sample)
    if (value === undefined) return []
    const text = argument.place === 'path' ? JSON.stringify(value) : literals.value(argument.use, value)
    return [argument.isRequired ? text : `${argument.name}: ${text}`]
  })
}

function valueOf({ place, wire, use }: Argument, { path, query, headers, body }: Sample): unknown {
  if (wire === null) return body?.kind === 'json' ? body.value : use.kind === 'bytes' && body ? body : undefined
  if (place === 'path') return String(path[wire])
  const parts = body?.kind === 'multipart' ? partValues(body) : {}
  return { ...query, ...headers, ...parts }[wire]
}

/** Calls the method, and prints the answer. */
function answered(call: string, { methods }: ClientOperation): string {
  switch (methods[0]?.answer.kind) {
    case undefined:
    case 'none':
      return `await ${call};\n`
    case 'bytes':
      return `await using var answer = await ${call};\nawait answer.CopyToAsync(Console.OpenStandardOutput());\n`
    case 'events':
    case 'data':
      return `await foreach (var item in await ${call}) Console.WriteLine(item);\n`
    case 'json':
    case 'text':
      return `var answer = await ${call};\nConsole.WriteLine(answer);\n`
  }
}

function socket({ id, parameters }: ClientChannel, sent: Sent | null, csharp: CsharpSurface): string {
  const path = parameters.map(() => '"…"').join(', ')
  const send = sent === null ? '' : `await socket.SendAsync(${new Literals(csharp).value(sent.use, sent.value)});\n`
  const open = `await using var socket = await client.${methodName(id)}(${path});\n`
  return program(csharp.surface.name, `${open}${send}await foreach (var frame in socket) Console.WriteLine(frame);\n`)
}

function program(surface: string, statements: string): string {
  const collections = statements.includes('new Dictionary<') ? 'using System.Collections.Generic;\n' : ''
  return `using System;
${collections}using Parley;
using Parley.${pascalCase(surface)};

using var parley = new ParleyClient(Environment.GetEnvironmentVariable("PARLEY_URL")!);
var client = new ${pascalCase(surface)}Client(parley);
${statements.trimEnd()}`
}
