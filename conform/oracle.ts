/** openapi-backend as the second opinion on JSON answers. It shares no code with the generator. */
import { Ajv2020, type AnySchema, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormatsModule from 'ajv-formats'
import { type Document, OpenAPIBackend } from 'openapi-backend'

// ajv-formats is CommonJS, so under Node's ESM its default import is the module itself.
const addFormats = addFormatsModule.default

/** Validators are compiled at their first answer. `apiRoot` is the path before all paths in the document. */
export function createOracle(definition: Document, apiRoot = '/'): OpenAPIBackend {
  const ajv = createAjv()
  // Without `quick` openapi-backend would validate the document as OpenAPI 3.0, and compile everything at the start.
  const backend = new OpenAPIBackend({ definition, apiRoot, quick: true, customizeAjv: () => ajv })
  // With `quick` the initialization is synchronous, so its promise need not be awaited.
  void backend.init()
  // openapi-backend makes this list for each answer, which takes longer than to check the answer.
  const operations = backend.router.getOperations()
  backend.router.getOperations = () => operations
  return backend
}

/**
 * Returns an Ajv that compiles equal schemas once. openapi-backend has a copy of the error envelope in each response,
 * and to compile all copies takes longer than all checks.
 */
function createAjv(): Ajv2020 {
  // Ajv need not check the schemas, because the tests of the server's release did, and need not optimize the
  // validators, because each runs only a few times.
  const ajv = new Ajv2020({ strict: false, validateSchema: false, code: { optimize: false } })
  addFormats(ajv)
  const compileAnew = ajv.compile.bind(ajv)
  const compiled = new Map<string, ValidateFunction>()
  const compile = (schema: AnySchema): ValidateFunction => {
    const text = JSON.stringify(schema)
    const validate = compiled.get(text) ?? compileAnew(schema)
    compiled.set(text, validate)
    return validate
  }
  return Object.assign(ajv, { compile })
}
