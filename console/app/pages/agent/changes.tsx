import type { AgentVersion, Tool } from '../../../../generated/clients/typescript/models/platform.ts'
import { classes } from '../../parts/classes.ts'
import { Faint } from '../../parts/layout.tsx'
import { type DiffLine, lineDiff } from '../../parts/line-diff.ts'
import { useMask } from '../../parts/redaction.tsx'
import styles from './versions.module.css'

/** Shows each changed setting with the removed and the added lines. */
export function Changes({ before, after }: { before: AgentVersion | null; after: AgentVersion }) {
  const [old, next] = [before ? settingsOf(before) : {}, settingsOf(after)]
  const names = [...new Set([...Object.keys(old), ...Object.keys(next)])].filter((name) => old[name] !== next[name])
  if (names.length === 0) return <Faint>The settings are the same.</Faint>
  return names.map((name) => (
    <section key={name} className={styles.change}>
      <h3>{name}</h3>
      <Lines label={name} lines={lineDiff(old[name] ?? '', next[name] ?? '')} />
    </section>
  ))
}

const marks: Record<DiffLine['kind'], string> = { same: ' ', added: '+', removed: '−' }

function Lines({ label, lines }: { label: string; lines: readonly DiffLine[] }) {
  const mask = useMask()
  return (
    <pre className={styles.lines} tabIndex={0} role="region" aria-label={`Changes of ${label}`}>
      {lines.map(({ kind, text }, at) => (
        // Lines never move, so their positions can be React keys.
        <span key={at} className={classes(styles.line, styles[kind])}>
          {marks[kind]} {mask(text)}
          {'\n'}
        </span>
      ))}
    </pre>
  )
}

const notSettings: readonly string[] = ['id', 'organizationId', 'version', 'createdAt', 'updatedAt', 'webhooks', 'test']

/** Returns all settings as texts by name. Settings without a value are left out. */
function settingsOf({ agent, tools }: AgentVersion): Record<string, string> {
  const settings = Object.entries(agent).filter(([name, value]) => !notSettings.includes(name) && isSet(value))
  return Object.fromEntries([
    ...settings.map(([name, value]) => [name, textOf(value)] as const),
    ...tools.map((tool) => [`tools.${tool.name}`, textOf(contentOf(tool))] as const),
  ])
}

const isSet = (value: unknown) => value !== null && !(Array.isArray(value) && value.length === 0)
const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value, null, 2))
const contentOf = ({ description, parameters, source, preToolSpeech }: Tool) => ({
  description,
  parameters,
  source,
  preToolSpeech,
})
