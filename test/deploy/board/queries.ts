/** The panels of deploy/grafana/parley.json, with the variables of Grafana filled in. */
import { readFileSync } from 'node:fs'
import path from 'node:path'

export type Query = { expr: string; legend: string }
export type Panel = {
  kind: 'row' | 'stat' | 'timeseries'
  title: string
  unit: string
  place: Place
  queries: Query[]
  /** A stat that shows the name of its series and not the value. */
  showsName: boolean
}
/** In the cells of Grafana's grid: 24 a row. */
type Place = { x: number; y: number; w: number; h: number }

type BoardFile = {
  panels: {
    type: Panel['kind']
    title: string
    gridPos: Place
    options?: { textMode?: string }
    fieldConfig?: { defaults?: { unit?: string } }
    targets?: { expr: string; legendFormat: string }[]
  }[]
}

/** `interval` is a time span of Prometheus for $__rate_interval, which should be four scrapes. */
export function readPanels(interval: string): Panel[] {
  const file = path.resolve(import.meta.dirname, '../../../deploy/grafana/parley.json')
  const { panels } = JSON.parse(readFileSync(file, 'utf8')) as BoardFile
  return panels.map(({ type, title, gridPos, options, fieldConfig, targets = [] }) => ({
    kind: type,
    title,
    unit: fieldConfig?.defaults?.unit ?? 'none',
    place: gridPos,
    showsName: options?.textMode === 'name',
    queries: targets.map(({ expr, legendFormat }) => ({
      expr: expr.replaceAll('$__rate_interval', interval).replaceAll('$instance', '.*'),
      legend: legendFormat,
    })),
  }))
}
