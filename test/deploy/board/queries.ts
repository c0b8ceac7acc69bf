/** The panels of the Grafana dashboard deploy/grafana/parley.json, with values for Grafana's variables. */
import { readFileSync } from 'node:fs'
import path from 'node:path'

export type Query = { expr: string; legend: string }
export type Panel = {
  kind: 'row' | 'stat' | 'timeseries'
  title: string
  unit: string
  place: Place
  queries: Query[]
  /** True for a stat panel that shows its series' name and not the value. */
  showsName: boolean
}
/** A panel's position and size in cells on Grafana's grid, which has 24 cells per row. */
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

/**
 * Reads the dashboard's panels. `interval` is a Prometheus time span for $__rate_interval, and should be four scrape
 * intervals.
 */
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
