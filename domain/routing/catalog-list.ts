import type { Row } from '../catalog/catalog.ts'
import { baseOf, defaultLanguage, readLanguage } from '../catalog/language.ts'
import { type Model, type Path, stages } from '../catalog/model.ts'
import type { Chooser } from './chooser.ts'
import { figuresFor } from './figure-table.ts'
import { modelName } from './model-name.ts'
import { latencyMetrics, qualityMetrics } from './weights.ts'

export type CatalogEntry = {
  model: Model
  /** `<provider>:<model>` */
  name: string
  /** Other spellings that pin it. */
  aliases: string[]
  /** Whether a request of anybody can go there now. */
  routable: boolean
  /** The first figure of the stage that somebody has published; null where nobody has. */
  quality: number | null
  /** Measured here, else published; null where neither. */
  latencyMs: number | null
}

/** `languages`: the base languages of what can be routed to now, sorted; `*` where some model takes any. */
export type CatalogList = { entries: CatalogEntry[]; languages: string[] }

/** Every row of the catalog, for everybody: what a key leaves of it is not part of this. */
export function createCatalogList(chooser: Chooser): () => CatalogList {
  return () => {
    chooser.world.catalog.version()
    const rows = stages.flatMap((stage) => chooser.world.catalog.stage(stage))
    const entries = rows.map((row) => entryOf(row, chooser))
    const spoken = entries.flatMap(({ model, routable }) => (routable ? model.languages.map(baseOf) : []))
    return { entries, languages: [...new Set(spoken)].sort() }
  }
}

const paths: readonly Path[] = ['stream', 'batch']

function entryOf(row: Row, { world: { catalog, health } }: Chooser): CatalogEntry {
  const { model, provider, pin } = row
  const isAlone = catalog.stage(model.stage).filter((other) => other.model.id === model.id).length === 1
  return {
    model,
    name: modelName(provider.id, model.id),
    aliases: isAlone ? [pin, model.id] : [pin],
    routable: catalog.unavailable(provider) === null && health.blocked(row) === null,
    quality: figureOf(
      row,
      qualityMetrics[model.stage].map(({ metric }) => metric),
    ),
    latencyMs: health.figures(row, 'stream')?.firstByteMs ?? figureOf(row, latencyMetrics[model.stage].stream),
  }
}

/** In the language that figures are read in by default, or where the model does not speak it in its first own. */
function figureOf(row: Row, metrics: readonly string[]): number | null {
  const own = row.model.languages[0]
  const speaksDefault = row.languages === null || row.languages.has(defaultLanguage)
  const language = readLanguage(speaksDefault || own === undefined ? defaultLanguage : own)
  const figures = paths.flatMap((path) => figuresFor(row, path, language))
  for (const metric of metrics) {
    const found = figures.find((figure) => figure.metric === metric && figure.value !== null)
    if (found) return found.value
  }
  return null
}
