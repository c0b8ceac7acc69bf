/** Tests the snippets on all pages: TypeScript compiles strictly, and curl gets the request from the contract. */
import { execFileSync } from 'node:child_process'
import path from 'node:path'
import t, { type Test } from 'tap'
import ts from 'typescript'
import type { Operation } from '../../codegen/pages/contract.ts'
import { curlRequest } from '../../codegen/pages/curl.ts'
import { sampleOf } from '../../codegen/pages/sample.ts'
import { contracts } from './site.ts'
import { operations, snippetsOf } from './snippet-texts.ts'

const root = path.resolve(import.meta.dirname, '../..')

t.test('the snippets in TypeScript compile strictly against the generated clients', (t) => {
  const snippets = snippetsOf('TypeScript')
  t.equal(snippets.size, operations.length + contracts.flatMap(({ channels }) => channels).length)
  t.same(compile(snippets), [])
  const wrong = new Map([...snippets].map(([name, text]) => [name, text.replace("name: 'Front desk'", 'name: 1')]))
  t.match(compile(wrong).join('\n'), "Type 'number' is not assignable to type 'string'", 'a wrong snippet is found')
  t.end()
})

t.test(
  'each curl snippet calls its operation with the example body of the contract and, if needed, with an API key',
  (t) => {
    const commands = runCurl()
    for (const [index, { operation }] of operations.entries()) checkCurl(t, operation, commands[index] ?? [])
    t.end()
  },
)

/** Compiles snippets without writing files. Returns the compiler's messages. */
function compile(snippets: ReadonlyMap<string, string>): string[] {
  const options: ts.CompilerOptions = {
    noEmit: true,
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noPropertyAccessFromIndexSignature: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2023,
    lib: ['lib.es2023.d.ts'],
    types: ['node'],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    moduleDetection: ts.ModuleDetectionKind.Force,
    paths: {
      '@parley/client/*': ['typescript/*.ts', '*.ts'].map((file) => path.join(root, 'generated/clients', file)),
    },
  }
  // The snippets get paths in the test's folder, so that their imports find the packages.
  const texts = new Map([...snippets].map(([name, text]) => [path.join(import.meta.dirname, `${name}.ts`), text]))
  const host = ts.createCompilerHost(options)
  const fileExists = host.fileExists.bind(host)
  const readFile = host.readFile.bind(host)
  const getSourceFile = host.getSourceFile.bind(host)
  host.fileExists = (file) => texts.has(file) || fileExists(file)
  host.readFile = (file) => texts.get(file) ?? readFile(file)
  host.getSourceFile = (file, version, ...rest) => {
    const text = texts.get(file)
    return text === undefined ? getSourceFile(file, version, ...rest) : ts.createSourceFile(file, text, version)
  }
  const program = ts.createProgram([...texts.keys()], options, host)
  const faults = [...texts.keys()].flatMap((file) => {
    const source = program.getSourceFile(file)
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]
  })
  return faults.map(({ file, messageText }) => {
    return `${path.basename(file?.fileName ?? '')}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`
  })
}

/** Runs all commands in a shell whose `curl` prints its arguments. Returns the arguments by operation. */
function runCurl(): string[][] {
  const commands = operations.map(({ contract, operation }) => curlRequest(sampleOf(contract, operation)))
  const script = `curl() { printf '%s\\0' "$@"; printf '\\1'; }\n${commands.join('\n')}`
  const env = { ...process.env, PARLEY_URL: 'http://127.0.0.1:1', PARLEY_API_KEY: 'key' }
  const output = execFileSync('sh', ['-c', script], { env }).toString()
  return output.split('\x01').map((command) => command.split('\0').slice(0, -1))
}

function checkCurl(t: Test, operation: Operation, given: readonly string[]): void {
  const { id, method, path: template, needsKey, body, parameters } = operation
  const url = new URL(given.find((argument) => argument.startsWith('http://')) ?? '')
  const after = (option: string) => given[given.indexOf(option) + 1] ?? ''
  const hasBody = ['-d', '-F', '--data-binary'].some((option) => given.includes(option))
  const sentMethod = given.includes('-X') ? after('-X') : hasBody ? 'POST' : 'GET'
  t.match(url.pathname, new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`), id)
  t.equal(sentMethod, method.toUpperCase(), `${id} has its method`)
  t.equal(given.includes('Authorization: Bearer key'), needsKey, `${id} has a key if needed`)
  t.ok(hasBody || !body?.required, `${id} has a body if required`)
  if (given.includes('-d')) t.ok(isExample(operation, JSON.parse(after('-d'))), `${id} sends an example`)
  const missing = parameters.filter(({ in: place, required, name }) => {
    const isSent = place === 'query' ? url.searchParams.has(name) : given.some((text) => text.startsWith(`${name}: `))
    return required && place !== 'path' && !isSent
  })
  t.same(missing, [], `${id} has all that is required`)
}

function isExample({ body }: Operation, value: unknown): boolean {
  const examples = body?.content.flatMap((content) => content.examples) ?? []
  return examples.some((example) => JSON.stringify(example.value) === JSON.stringify(value))
}
