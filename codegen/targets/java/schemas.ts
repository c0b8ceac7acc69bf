/** Emits Schemas.java: all types of an API, nested in one class. */
import { emitEnum } from './enums.ts'
import { emitInputs } from './inputs.ts'
import { emitObject } from './objects.ts'
import { javaFile, root } from './print.ts'
import type { JavaSurface } from './surface.ts'
import { Interfaces } from './unions.ts'

export function emitSchemas(java: JavaSurface): string {
  const { name, file, declarations, operations } = java.surface
  const interfaces = new Interfaces(java)
  const types = declarations.flatMap((declaration) => {
    if (declaration.kind === 'object') return [emitObject(declaration, java)]
    return declaration.kind === 'enum' ? [emitEnum(declaration, java)] : []
  })
  const inputs = operations.flatMap((operation) => emitInputs(operation, java))
  const all = [...types, ...inputs, ...interfaces.emit()]
  const body = `/** The types of the surface ${name}. A component or field is null if it is absent. */
public final class Schemas {
    private Schemas() {}

${all.join('')}}
`
  return javaFile('schemas', file, `${root}.${name}`, '', body)
}
