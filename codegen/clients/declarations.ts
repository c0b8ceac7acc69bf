/**
 * Declares an API's types by name. A component keeps its name. An object, enum or union inside another type is named
 * after the component and the field: the field `region` in AvailablePhoneNumber becomes AvailablePhoneNumberRegion.
 */
import { type Components, pascal } from '../ir.ts'
import type { NamedType, Type } from '../types.ts'
import { fieldsIn, type View, type Views, viewSuffixes } from '../views.ts'
import type { ClientField, Declaration, Use } from './model.ts'
import { isDeclared, jsonKindOf, merged, tagValuesOf, unwrapped } from './shapes.ts'

/**
 * A declaration's name, and its view: the type as a client sends it, or as the server responds with it. Both views give
 * the same names to the types inside a component.
 */
type Place = { name: string; view: View; description: string; viewName?: string }
type Unnamed = Declaration extends infer One ? (One extends Declaration ? Omit<One, 'name'> : never) : never

export class Declarations {
  readonly #components: ReadonlyMap<string, NamedType>
  readonly #views: Views
  readonly #byName = new Map<string, Declaration>()
  /** The components already declared or being declared. A component can contain itself. */
  readonly #begun = new Set<string>()

  constructor({ types }: Pick<Components, 'types'>, views: Views) {
    this.#components = new Map(types.map((named) => [named.name, named]))
    this.#views = views
  }

  get all(): Declaration[] {
    return [...this.#byName.values()]
  }

  /** Returns the type as the client model refers to it (`Use`), and declares the named types inside it. */
  use(type: Type, place: Place): Use {
    switch (type.kind) {
      case 'any':
      case 'null':
      case 'bytes':
        return { kind: type.kind }
      case 'scalar':
        return { ...type, values: null }
      case 'list':
        return { kind: 'list', item: this.use(type.item, within(place, 'Item')) }
      case 'map':
        return { kind: 'map', value: this.use(type.value, within(place, 'Value')) }
      case 'nullable':
        return nullable(this.use(type.of, place))
      case 'ref':
        return this.component(type.name, place.view)
      case 'enum':
        return this.#enum(type.values, place)
      case 'union':
        return this.#declare(place, () => this.#union(type, place))
      case 'object':
      case 'all':
        return this.#declare(place, () => this.#object(type, place))
    }
  }

  /**
   * Returns how the client model refers to a component in a view. A string, number, list or map is written out, without
   * a name.
   */
  component(name: string, view: View): Use {
    const named = this.#components.get(name)
    if (!named) throw new Error(`there is no component ${name}`)
    const { type, isNullable } = unwrapped(named.type)
    if (!isDeclared(type)) return this.use(named.type, { ...named, view })
    const canonical = this.#views.canonical(name, view)
    const declared = this.#views.distinct(name)[0] === canonical ? name : name + viewSuffixes.sent
    if (!this.#begun.has(declared)) {
      this.#begun.add(declared)
      this.use(type, { name, viewName: declared, view: canonical, description: named.description })
    }
    const use: Use = { kind: 'named', name: declared }
    return isNullable ? nullable(use) : use
  }

  #declare(place: Place, build: () => Unnamed): Use {
    const built = build()
    for (const name of namesFor(place)) {
      const existing = this.#byName.get(name)
      if (!existing) this.#byName.set(name, { ...built, name })
      else if (!isSame(existing, built)) continue
      return { kind: 'named', name }
    }
    throw new Error(`two different types have the name ${place.name}`)
  }

  #object(type: Type & { kind: 'object' | 'all' }, place: Place): Unnamed {
    const { object, rest } = merged(type, (name) => this.#typeOf(name))
    const fields = fieldsIn(object, place.view).map(
      (field): ClientField => ({
        name: field.name,
        use: this.use(field.type, { ...within(place, pascal(field.name)), description: field.description }),
        isRequired: field.isRequired,
        fallback: field.fallback,
        isDeprecated: field.isDeprecated,
        description: field.description,
      }),
    )
    const restUse = rest && this.use(rest, within(place, 'Rest'))
    return { kind: 'object', description: place.description, fields, rest: restUse }
  }

  #union({ arms, tag }: Type & { kind: 'union' }, place: Place): Unnamed {
    const typeOf = (name: string) => this.#typeOf(name)
    return {
      kind: 'union',
      description: place.description,
      tag,
      arms: arms.map((arm, count) => ({
        use: this.use(arm, within(place, `Choice${count + 1}`)),
        tagValues: tag === null ? [] : tagValuesOf(arm, tag, typeOf),
        json: jsonKindOf(arm, typeOf),
      })),
    }
  }

  #enum(values: readonly (string | number | boolean)[], place: Place): Use {
    const texts = values.filter((value) => typeof value === 'string')
    const [first] = values
    if (texts.length < values.length)
      return {
        kind: 'scalar',
        scalar: typeof first === 'number' ? 'integer' : 'boolean',
        format: null,
        values: [...values],
      }
    if (texts.length === 1) return { kind: 'constant', value: String(first) }
    return this.#declare(place, () => ({ kind: 'enum', description: place.description, values: texts }))
  }

  #typeOf(name: string): Type {
    return this.#components.get(name)?.type ?? { kind: 'any' }
  }
}

const within = ({ name, view }: Place, field: string): Place => ({ name: name + field, view, description: '' })

const nullable = (use: Use): Use =>
  use.kind === 'nullable' || use.kind === 'any' ? use : { kind: 'nullable', of: use }

/**
 * Returns the possible names for a type, the preferred name first. If a request's type differs from the response's type
 * with the same name, the request's type gets the suffix.
 */
function namesFor({ name, view, viewName }: Place): string[] {
  if (viewName !== undefined) return [viewName]
  return view === 'sent' ? [name, name + viewSuffixes.sent] : [name]
}

/** True if the types differ at most in their names and descriptions. */
const isSame = (one: Declaration, other: Unnamed): boolean => shapeOf(one) === shapeOf(other)
const shapeOf = (declaration: Unnamed) => JSON.stringify({ ...declaration, name: '', description: '' })
