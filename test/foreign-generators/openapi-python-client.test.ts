/** openapi-python-client makes a client from each served document. It leaves nothing out, and each module imports. */
import { readdirSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { printedBy } from '../clients/printed.ts'
import { pythonEnvironment } from '../clients/python/environment.ts'
import { emptyFolder, limitMs, servedDocuments, withoutMethod } from './served-documents.ts'

const config = path.join(import.meta.dirname, 'openapi-python-client.yaml')
const importAll = `
import importlib, pkgutil, sys
package = importlib.import_module(sys.argv[1])
for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
    importlib.import_module(module.name)
print("imported")
`

t.setTimeout(limitMs)
const { python, missing } = await pythonEnvironment('openapi-python-client.txt')

t.test(
  'the client of openapi-python-client has every operation and model, and imports',
  { skip: missing ?? false },
  async (t) => {
    const folder = emptyFolder('python')
    const generator = path.join(path.dirname(python), 'openapi-python-client')
    for (const served of await servedDocuments(folder)) {
      const { name, file } = served
      // Python already has a module `platform`.
      const client = `parley_${name}`
      const paths = ['--path', file, '--config', config, '--output-path', client]
      const printed = await printedBy(generator, ['generate', '--meta', 'none', ...paths], folder)
      t.equal(printed, `Generating ${client}\n`, `${name}: a warning names an operation or a model that is left out`)
      // The generator prints `version != 1and not …`, and Python warns about the missing space.
      const options = ['-W', 'ignore::SyntaxWarning', '-c', importAll, client]
      t.equal(await printedBy(python, options, folder), 'imported\n', `${name} imports`)
      const files = readdirSync(path.join(folder, client, 'api'), { recursive: true, encoding: 'utf8' })
      const modules = files.map((file) => path.parse(file).name)
      t.same(withoutMethod(served, modules), [], `${name} has all operations`)
    }
  },
)
