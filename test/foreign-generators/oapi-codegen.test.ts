/** oapi-codegen makes a client for Go from each served document, and the client compiles. */
import { cpSync, mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { packageFile } from '../../runtime/package-file.ts'
import { printedBy } from '../clients/printed.ts'
import { install } from '../clients/setup.ts'
import { emptyFolder, limitMs, servedDocuments, withoutMethod } from './served-documents.ts'

const version = 'v2.8.2'
const module = path.join(import.meta.dirname, 'go')
const tools = packageFile('.cache/clients/go/bin').pathname
const generator = path.join(tools, 'oapi-codegen')
const packageName = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen'

t.setTimeout(limitMs)
const missing =
  (await install('go', ['version'])) ??
  (await install('go', ['-C', module, 'mod', 'download'])) ??
  (await install('env', [`GOBIN=${tools}`, 'go', 'install', `${packageName}@${version}`]))

t.test(
  'the client of oapi-codegen has every operation, compiles and passes go vet',
  { skip: missing ?? false },
  async (t) => {
    const folder = emptyFolder('go')
    cpSync(module, folder, { recursive: true })
    for (const served of await servedDocuments(folder)) {
      const { name, file } = served
      const client = path.join(folder, name, 'client.go')
      mkdirSync(path.dirname(client))
      // Without `skip-prune` the generator leaves out types that no operation uses, such as events.
      const options = ['-generate', 'client,types,skip-prune', '-package', name, '-o', client]
      t.equal(await printedBy(generator, [...options, file], folder), '', name)
      t.equal(await printedBy('go', ['build', `./${name}`], folder), '', `${name} compiles`)
      t.equal(await printedBy('go', ['vet', `./${name}`], folder), '', `${name} passes go vet`)
      const methods = [...readFileSync(client, 'utf8').matchAll(/^func \(c \*Client\) (\w+?)(WithBody)?\(/gm)]
      t.same(
        withoutMethod(
          served,
          methods.map(([, method = '']) => method),
        ),
        [],
        `${name} has all operations`,
      )
    }
  },
)
