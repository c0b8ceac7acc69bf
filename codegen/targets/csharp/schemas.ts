/** Emits Schemas.cs: all types of an API. */
import { pascalCase } from '../../clients/names.ts'
import { emitEnum } from './enums.ts'
import { csharpFile } from './print.ts'
import { emitRecord } from './records.ts'
import type { CsharpSurface } from './surface.ts'
import { Interfaces } from './unions.ts'

export function emitSchemas(csharp: CsharpSurface): string {
  const { name, file, declarations } = csharp.surface
  const interfaces = new Interfaces(csharp)
  const types = declarations.flatMap((declaration) => {
    if (declaration.kind === 'object') return [emitRecord(declaration, csharp)]
    return declaration.kind === 'enum' ? [emitEnum(declaration, csharp)] : []
  })
  return csharpFile('schemas', file, pascalCase(name), [...types, ...interfaces.emit()].join(''))
}
