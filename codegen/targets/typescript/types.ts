/**
 * Emits generated/<name>/types.ts: a type for each component, and further types if the component differs between
 * requests, handlers and responses.
 */
import type { Components } from '../../ir.ts'
import type { NamedType } from '../../types.ts'
import type { View, Views } from '../../views.ts'
import { banner, printComment, printExport, printImport } from './print.ts'
import { TypeNames } from './type-names.ts'

const notes: Record<View, string> = {
  answered: 'as the server answers it.',
  received: 'as a handler receives it: validation has filled in the defaults.',
  sent: 'as a client may send it: a field with a default may be left out.',
}

/** Emits the types. Shared components' types are emitted in `sharedModule` and exported again here. */
export function emitTypes(
  file: string,
  { types, shared }: Pick<Components, 'types' | 'shared'>,
  views: Views,
  sharedModule: string,
): string {
  const isShared = ({ name }: NamedType) => shared.has(name)
  const names = new TypeNames(views, true)
  const text = types.filter((named) => !isShared(named)).map((named) => emitType(named, views, names))
  const outer = new TypeNames(views)
  for (const { name } of types.filter(isShared)) for (const view of views.distinct(name)) outer.component(name, view)
  const imported = outer.used().filter((name) => names.used().includes(name))
  const blocks = [printImport(imported, sharedModule), printExport(outer.used(), sharedModule), ...text]
  return `${banner('types', file)}\n${blocks.filter((block) => block !== '').join('\n')}`
}

/** Comments are printed once, in a component's first type. */
function emitType({ name, type, description }: NamedType, views: Views, names: TypeNames): string {
  const [first = 'answered', ...others] = views.distinct(name)
  const bare = names.withoutComments()
  const rest = others.map(
    (view) =>
      `\n/** ${name} ${notes[view]} */\nexport type ${names.component(name, view)} = ${bare.print(type, view)}\n`,
  )
  const text = `export type ${names.component(name, first)} = ${names.print(type, first)}\n`
  return printComment({ description }, '') + text + rest.join('')
}
