import { Tab, TabList, TabPanel, TabProvider } from '@ariakit/react'
import { memo } from 'react'
import type { Call, CallEvent } from '../../../../generated/clients/typescript/models/platform.ts'
import { type Address, type Tab as TabName, tabs } from './address.ts'
import { CostTab } from './cost-tab.tsx'
import { DeliveriesTab } from './deliveries-tab.tsx'
import { EventsTab } from './events-tab.tsx'
import styles from './inspector.module.css'
import { ModelsTab } from './models-tab.tsx'
import { ReportTab } from './report-tab.tsx'
import { SettingsTab } from './settings-tab.tsx'
import type { Timeline } from './timeline.ts'
import { TurnTab } from './turn-tab.tsx'

type InspectorProps = {
  call: Call
  events: readonly CallEvent[]
  timeline: Timeline
  address: Address
  change: (change: Partial<Address>) => void
  seek: (seconds: number) => void
}

const names: Record<TabName, string> = {
  turn: 'Turn',
  report: 'Report',
  events: 'Events',
  models: 'Models',
  deliveries: 'Deliveries',
  cost: 'Cost',
  settings: 'Settings',
}

/** Shows the details behind the words. The open tab is in the page's URL. */
export const Inspector = memo(function Inspector({ call, events, timeline, address, change, seek }: InspectorProps) {
  const tab = address.tab ?? (address.turn === null ? 'report' : 'turn')
  return (
    <section id="details" aria-label="Details" className={styles.inspector}>
      <h2 className="unseen">Details</h2>
      <TabProvider selectedId={tab} setSelectedId={(id) => change({ tab: tabs.find((each) => each === id) ?? null })}>
        <TabList aria-label="Details of the call" className={styles.tabs}>
          {tabs.map((each) => (
            <Tab key={each} id={each} className={styles.tab}>
              {names[each]}
            </Tab>
          ))}
        </TabList>
        <TabPanel tabId={tab} className={styles.panel}>
          {tab === 'turn' && <TurnTab timeline={timeline} address={address} change={change} />}
          {tab === 'report' && <ReportTab call={call} />}
          {tab === 'events' && <EventsTab call={call} events={events} seek={seek} />}
          {tab === 'models' && <ModelsTab callId={call.id} turn={address.turn} />}
          {tab === 'deliveries' && <DeliveriesTab callId={call.id} />}
          {tab === 'cost' && <CostTab call={call} />}
          {tab === 'settings' && <SettingsTab call={call} />}
        </TabPanel>
      </TabProvider>
    </section>
  )
})
