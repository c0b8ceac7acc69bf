import type { Call } from '../../../../generated/clients/typescript/models/platform.ts'
import { JsonView } from '../../parts/json-view.tsx'
import { Private } from '../../parts/redaction.tsx'
import styles from './settings-tab.module.css'

/** Shows the settings of this call. The agent's present settings can differ. */
export function SettingsTab({ call: { pipeline_config: settings, metadata } }: { call: Call }) {
  const { systemPrompt, ...rest } = settings
  return (
    <>
      <section>
        <h3>Instructions</h3>
        <p className={styles.prompt}>
          <Private>{systemPrompt}</Private>
        </p>
      </section>
      <section>
        <h3>Settings</h3>
        <JsonView label="Settings of the call" text={JSON.stringify(rest)} />
      </section>
      <section>
        <h3>Metadata</h3>
        <JsonView label="Metadata of the call" text={JSON.stringify(metadata)} />
      </section>
    </>
  )
}
