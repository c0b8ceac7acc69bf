/**
 * Leaves out documentation that readers see twice. A type inside another type is declared with the description of its
 * field, and an editor shows that description at the field.
 */
import { Directions } from './directions.ts'
import type { ClientField, Surface, Use } from './model.ts'

/** Removes a type's description if each field and parameter with the type has the same description. */
export function withoutRepeatedTexts(surface: Surface): Surface {
  const repeated = typesWithTextOfField(surface)
  const declarations = surface.declarations.map((declaration) =>
    repeated.has(declaration.name) ? { ...declaration, description: '' } : declaration,
  )
  return { ...surface, declarations }
}

function typesWithTextOfField(surface: Surface): ReadonlySet<string> {
  const directions = new Directions(surface)
  const isSame = new Map<string, boolean>()
  const note = (use: Use, text: string | null): void => {
    const name = nameIn(use)
    if (name === null) return
    isSame.set(name, isSame.get(name) !== false && directions.declaration(name).description === text)
  }
  for (const declaration of surface.declarations) {
    if (declaration.kind === 'object') for (const { use, description } of declaration.fields) note(use, description)
    if (declaration.kind === 'union') for (const { use } of declaration.arms) note(use, null)
  }
  for (const { parameters } of surface.operations) for (const { use, description } of parameters) note(use, description)
  return new Set([...isSame].flatMap(([name, same]) => (same ? [name] : [])))
}

function nameIn(use: Use): string | null {
  if (use.kind === 'list') return nameIn(use.item)
  if (use.kind === 'map') return nameIn(use.value)
  if (use.kind === 'nullable') return nameIn(use.of)
  return use.kind === 'named' ? use.name : null
}

/** Returns the description of a field on one line, with its default if the description does not name it. */
export function describe({ description, fallback, isDeprecated }: ClientField): string {
  const text = description.replace(/\s+/g, ' ').trim()
  const isComplete = fallback === undefined || text.includes('default')
  const all = isComplete ? text : `${text} The default is \`${JSON.stringify(fallback)}\`.`.trim()
  return isDeprecated ? `Deprecated: ${all || 'see the contract.'}` : all
}
