/**
 * Emits generated/<name>/validators.ts: Ajv's standalone output as an ES module, so that the server starts without
 * compiling schemas. These validators check the server's input. They fill in defaults and never coerce. Responses are
 * checked only in tests and in development, by contract-validators.ts.
 */
import type { Ajv2020 } from 'ajv/dist/2020.js'
import standaloneModule from 'ajv/dist/standalone/index.js'
import { createAjv, registerSchema } from '../../ajv.ts'
import type { AsyncApiDocument, OpenApiDocument } from '../../ir.ts'
import { planFrames, planValidators } from '../../validator-plan.ts'
import { banner } from './print.ts'

const standaloneCode = standaloneModule.default

export function emitValidators(document: OpenApiDocument | AsyncApiDocument, runtimePath: string): string {
  const { file, schemas } = document
  const plans = document.kind === 'openapi' ? planValidators(document) : planFrames(document.channels)
  const received = plans.filter(({ direction }) => direction === 'request')
  const allErrors = document.kind === 'openapi' && document.source['x-every-violation'] === true
  const ajv = createAjv(schemas, { allErrors })
  const ids = new Map(received.map(({ name, schema }) => [name, registerSchema(ajv, name, schema, 'request', schemas)]))
  const text = emitModule(ajv, ids, runtimePath)
  return banner('validators', file) + (allErrors ? withJoinedErrors(text) : text)
}

/**
 * If validators continue after a violation, Ajv copies all errors so far for each wrong list item. Then 45,000 wrong
 * items would take a quarter of a minute. Here the error list grows in place.
 */
function withJoinedErrors(text: string): string {
  const copying = /vErrors === null \? ([\w.]+)\.errors : vErrors\.concat\(\1\.errors\)/g
  if (!copying.test(text)) return text
  const join = `function joined(all, more) {
  if (all === null) return more
  for (const error of more) all.push(error)
  return all
}
`
  return text.replaceAll(copying, 'joined(vErrors, $1.errors)') + join
}

/** Turns a schema's id into an identifier: `request:LLMRequest` → `request_LLMRequest`. */
function symbol(id: string): string {
  return id.replaceAll(/[^A-Za-z0-9_$]/g, '_')
}

/**
 * Ajv exports each validator once, under the name from `symbol`. The names in routes.ts are aliases. Even as an ES
 * module, the output calls require(…) for Ajv's few runtime modules, and it does not declare our type Validate. Both
 * are rewritten here.
 */
export function emitModule(ajv: Ajv2020, ids: ReadonlyMap<string, string>, runtimePath: string): string {
  const refs = Object.fromEntries([...new Set(ids.values())].map((id) => [symbol(id), id]))
  const standalone = standaloneCode(ajv, refs)
  const { code, imports } = toEsm(standalone.replace(/^"use strict";/, ''))
  const typed = withQuickLengths(code).replaceAll(/export const (\w+) = (validate\d+);/g, 'const $1: Validate = $2;\n')
  const aliases = [...ids].map(([name, id]) => `export const ${name}: Validate = ${symbol(id)}\n`)
  return `// @ts-nocheck: Ajv's standalone output.
${imports.join('')}import type { Validate } from '${runtimePath}/engine/operation.ts'

${typed}
${aliases.join('')}`
}

/**
 * JSON Schema counts code points, and Ajv reads the whole text to count them. A text with n UTF-16 units has between
 * n/2 and n code points, which nearly always decides without counting. So checking a limit of a million characters does
 * not cost a millisecond.
 */
function withQuickLengths(code: string): string {
  const name = /const (func\d+) = ucs2lengthModule\.default;/.exec(code)?.[1]
  if (name === undefined) return code
  return code
    .replaceAll(new RegExp(`\\b${name}\\((\\w+)\\) > (\\d+)`, 'g'), `$1.length > $2 && ${name}($1) > $2`)
    .replaceAll(
      new RegExp(`\\b${name}\\((\\w+)\\) < (\\d+)`, 'g'),
      (_match, text: string, least: string) => `${text}.length < ${2 * Number(least)} && ${name}(${text}) < ${least}`,
    )
}

function toEsm(code: string): { code: string; imports: string[] } {
  const modules = new Map<string, string>()
  const replaced = code.replaceAll(/require\("([^"]+)"\)(\.default)?/g, (_match, module: string, member?: string) => {
    const name = `${module.split('/').at(-1)}Module`
    modules.set(module, name)
    return name + (member ?? '')
  })
  const imports = [...modules].map(([module, name]) => `import ${name} from '${module}.js'\n`)
  if (!/\bformats\b/.test(replaced)) return { code: replaced, imports }
  // The module is CommonJS, so Node's default import is the whole module.
  imports.push("import formatsModule from 'ajv-formats/dist/formats.js'\n")
  return { code: `const formats = formatsModule.fullFormats;\n${replaced}`, imports }
}
