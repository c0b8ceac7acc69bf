/** Compares the server's responses with the types in the hosted product's TypeScript SDK. */
import path from 'node:path'
import ts from 'typescript'

export type Answer = { method: string; answer: unknown }

/**
 * The start of the compared program. `plain` keeps a value's literal types, but removes `readonly`. The program does
 * not check for unknown fields.
 */
const prologue = `
import type { Speko } from '@spekoai/sdk'
type Plain<T> = T extends readonly unknown[] | Readonly<Record<string, unknown>> ? { -readonly [K in keyof T]: Plain<T[K]> } : T
declare function plain<const T>(value: T): Plain<T>
type Value<M> = M extends (...args: never[]) => infer R ? (R extends AsyncIterable<infer E> ? E : Awaited<R>) : never
`

/** Responses with audio are not compared. */
const binary = ['synthesize', 'synthesizeStream']

/**
 * Returns a line for each response whose type is not the declared type of its method. `folder` has the SDK in
 * `node_modules`.
 */
export function typeErrors(folder: string, answers: readonly Answer[]): string[] {
  const values = answers.filter(({ method }) => !binary.includes(method))
  const lines = values.map(({ method, answer }, index) => lineOf(method, answer, index))
  const program = programOf(path.join(folder, 'answers.ts'), `${prologue}${lines.join('\n')}\n`)
  return ts.getPreEmitDiagnostics(program).map((found) => {
    const { line = 0 } = found.file?.getLineAndCharacterOfPosition(found.start ?? 0) ?? {}
    const method = values[line - prologue.split('\n').length + 1]?.method ?? 'no method'
    return `${method}: ${ts.flattenDiagnosticMessageText(found.messageText, ' ')}`
  })
}

function lineOf(method: string, answer: unknown, index: number): string {
  const type = `Value<Speko${method
    .split('.')
    .map((name) => `['${name}']`)
    .join('')}>`
  return answer === undefined
    ? `export const a${index}: ${type} = undefined`
    : `export const a${index}: ${type} = plain(${JSON.stringify(answer)})`
}

/** Makes a program whose only file exists in memory. */
function programOf(file: string, text: string): ts.Program {
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: [],
  }
  const host = ts.createCompilerHost(options)
  const withFile: ts.CompilerHost = {
    ...host,
    fileExists: (name) => name === file || host.fileExists(name),
    getSourceFile: (name, target) =>
      name === file ? ts.createSourceFile(name, text, target) : host.getSourceFile(name, target),
  }
  return ts.createProgram([file], options, withFile)
}
