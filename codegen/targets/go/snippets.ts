/** Writes the documentation's Go snippets: a program with the client for each operation and each socket. */
import type { ClientChannel, ClientOperation, Surface } from '../../clients/model.ts'
import { type Sample, type SampleBody, sampleFile, usesFile } from '../../pages/sample.ts'
import { hasOwnQuery, type Programs, type Sent } from '../programs.ts'
import { paramsName } from './inputs.ts'
import { braces, Literals } from './literals.ts'
import { exported } from './names.ts'
import { GoPackage } from './package.ts'

export function goPrograms(surface: Surface): Programs {
  const goPackage = new GoPackage(surface)
  return {
    request: (operation, sample) => request(operation, sample, goPackage),
    socket: (model, sent) => socket(model, sent, goPackage),
  }
}

function request(operation: ClientOperation, sample: Sample, goPackage: GoPackage): string {
  const { surface } = goPackage
  const given = ['ctx', ...argumentsOf(sample, operation, goPackage)].join(', ')
  const call = `client.${exported(operation.methods[0]?.name ?? operation.id)}(${given})`
  const file = sample.body !== null && usesFile(sample.body) ? openFile : ''
  return program(surface.name, `${file}${answered(call, operation)}`)
}

function argumentsOf(
  { path, query, headers, body }: Sample,
  operation: ClientOperation,
  goPackage: GoPackage,
): string[] {
  const literals = new Literals(goPackage)
  const paths = Object.values(path).map((value) => JSON.stringify(String(value)))
  const bodies = operation.body ? [body === null ? 'nil' : bodyOf(body, operation, literals, goPackage)] : []
  const others = operation.parameters.filter((parameter) => parameter.in !== 'path')
  if (others.length === 0) return [...paths, ...bodies]
  const values: Record<string, unknown> = { ...query, ...headers }
  const given = others.flatMap(({ name, use, isRequired }): [string, string][] => {
    if (!(name in values)) return []
    const value = isRequired ? literals.value(use, values[name]) : literals.pointer(use, values[name])
    return [[exported(name.replace(/^x-/i, '')), value]]
  })
  if (given.length === 0) return [...paths, ...bodies, 'nil']
  const pointer = others.some(({ isRequired }) => isRequired) ? '' : '&'
  return [...paths, ...bodies, `${pointer}${goPackage.surface.name}.${paramsName(operation.id)}${braces(given)}`]
}

function bodyOf(
  body: SampleBody,
  { id, body: model }: ClientOperation,
  literals: Literals,
  goPackage: GoPackage,
): string {
  if (body.kind === 'file') return 'audio'
  if (body.kind === 'json') {
    if (model?.kind !== 'json') return 'nil'
    return model.isRequired ? literals.value(model.use, body.value) : literals.pointer(model.use, body.value)
  }
  const parts = model?.kind === 'multipart' ? model.parts : []
  const fields = parts.flatMap(({ name, use, isRequired, isList }): [string, string][] => {
    const part = body.parts.find((each) => each.name === name)
    if (!part) return []
    const list = isList && use.kind !== 'list' ? ({ kind: 'list', item: use } as const) : use
    return [[exported(name), isRequired ? literals.value(list, part.value) : literals.pointer(list, part.value)]]
  })
  return `${goPackage.surface.name}.${exported(id)}Form${braces(fields)}`
}

const isWrong = 'if err != nil {\n\tlog.Fatal(err)\n}\n'
const openFile = `audio, err := os.Open("${sampleFile}")\n${isWrong}defer audio.Close()\n`

/** Calls the method, and prints the response. */
function answered(call: string, { methods }: ClientOperation): string {
  switch (methods[0]?.answer.kind) {
    case undefined:
    case 'none':
      return `if err := ${call}; err != nil {\n\tlog.Fatal(err)\n}\n`
    case 'bytes':
      return `answer, err := ${call}\n${isWrong}defer answer.Close()\nsize, err := io.Copy(io.Discard, answer)\n${isWrong}fmt.Println(size, "bytes")\n`
    case 'events':
    case 'data':
      return `stream, err := ${call}\n${isWrong}for event, err := range stream.All() {\n\t${isWrong.trimEnd().replaceAll('\n', '\n\t')}\n\tfmt.Printf("%+v\\n", event)\n}\n`
    case 'json':
    case 'text':
      return `answer, err := ${call}\n${isWrong}fmt.Printf("%+v\\n", answer)\n`
  }
}

function socket(model: ClientChannel, sent: Sent | null, goPackage: GoPackage): string {
  const path = model.parameters.map(() => ', "…"').join('')
  const query = hasOwnQuery(model) ? ', nil' : ''
  const value = sent && new Literals(goPackage).value(sent.use, sent.value)
  const send = value === null ? '' : `if err := socket.Send(ctx, ${value}); err != nil {\n\tlog.Fatal(err)\n}\n`
  return program(
    goPackage.surface.name,
    `socket, err := client.${exported(model.id)}(ctx${path}${query})\n${isWrong}defer socket.Close()\n${send}for frame, err := range socket.Frames(ctx) {\n\t${isWrong.trimEnd().replaceAll('\n', '\n\t')}\n\tfmt.Printf("%+v\\n", frame)\n}\n`,
  )
}

const standard = { context: 'context', fmt: 'fmt', io: 'io', log: 'log', os: 'os', time: 'time' }

function program(surface: string, statements: string): string {
  const body = `ctx := context.Background()
client := ${surface}.New(parley.New(os.Getenv("PARLEY_URL"), os.Getenv("PARLEY_API_KEY")))
${statements}`
  const used = Object.entries(standard).flatMap(([name, path]) =>
    new RegExp(`\\b${name}\\.[A-Z]`).test(body) ? [`\t"${path}"\n`] : [],
  )
  const indented = body.trimEnd().replaceAll(/^(?=.)/gm, '\t')
  return `package main

import (
${used.join('')}
	"parley"
	"parley/${surface}"
)

func main() {
${indented}
}`
}
