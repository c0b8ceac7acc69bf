/** openapi-generator makes a client for Java from each served document, with two HTTP libraries, and it compiles. */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { packageFile } from '../../runtime/package-file.ts'
import { printedBy } from '../clients/printed.ts'
import { install } from '../clients/setup.ts'
import { emptyFolder, limitMs, servedDocuments, withoutMethod } from './served-documents.ts'

const version = '7.25.0'
const tools = packageFile('.cache/foreign-generators-tools').pathname
const generator = path.join(tools, `openapi-generator-cli-${version}.jar`)
/** The generator uses the first library by default. */
const libraries = ['okhttp-gson', 'native'] as const

/** Faults in the generator itself. If a newer generator has no such fault, the test fails, and the row must go. */
const faults: { library: (typeof libraries)[number]; document: string; message: RegExp; what: string }[] = [
  {
    library: 'native',
    document: 'compat',
    message: /\/CompatResponseRequestInput\.java:\d+: error: <identifier> expected/,
    what: 'prints `List<CompatResponseInputItem>.class` if a list is an arm of oneOf (`input` of createCompatResponse)',
  },
]

t.setTimeout(limitMs * libraries.length)
const artifact = `org.openapitools:openapi-generator-cli:${version}`
const missing =
  (await install('javac', ['-version'])) ??
  (await install('mvn', ['-q', '-B', 'dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${tools}`]))

for (const library of libraries)
  t.test(`the client of openapi-generator with ${library} compiles`, { skip: missing ?? false }, async (t) => {
    const folder = emptyFolder(`java-${library}`)
    for (const served of await servedDocuments(folder)) {
      const client = path.join(folder, served.name)
      const options = ['-g', 'java', '--library', library, '-i', served.file, '-o', client]
      await printedBy('java', ['-jar', generator, 'generate', ...options], folder)
      const printed = await compile(client)
      const fault = faults.find((row) => row.library === library && row.document === served.name)
      if (fault) t.match(printed, fault.message, `the generator ${fault.what}`)
      else t.equal(printed, '', `${served.name} compiles`)
      t.same(withoutMethod(served, methodsOf(client)), [], `${served.name} has all operations`)
    }
  })

/** Returns the compiler's messages. The client's own pom.xml names the packages that it needs. */
async function compile(client: string): Promise<string> {
  const jars = path.join(client, 'lib')
  const packages = await install('mvn', [
    ...['-q', '-B', '-f', path.join(client, 'pom.xml')],
    ...['dependency:copy-dependencies', '-DincludeScope=compile', `-DoutputDirectory=${jars}`],
  ])
  if (packages !== null) return packages
  const classes = path.join(client, 'classes')
  mkdirSync(classes)
  const options = ['-nowarn', '-proc:none', '-encoding', 'UTF-8', '-cp', path.join(jars, '*'), '-d', classes]
  const printed = await printedBy('javac', [...options, ...sourcesOf(client)], client)
  // The compiler notes deprecated calls in the client.
  return printed.replaceAll(/^Note: .*\n/gm, '')
}

function sourcesOf(client: string): string[] {
  const entries = readdirSync(path.join(client, 'src/main/java'), { recursive: true, withFileTypes: true })
  const sources = entries.filter(({ name }) => name.endsWith('.java'))
  return sources.map(({ parentPath, name }) => path.join(parentPath, name))
}

function methodsOf(client: string): string[] {
  const apis = sourcesOf(client).filter((file) => file.endsWith('Api.java'))
  const code = apis.map((file) => readFileSync(file, 'utf8')).join('')
  return [...code.matchAll(/^ {2,4}public \S+ (\w+)\(/gm)].map(([, method = '']) => method)
}
