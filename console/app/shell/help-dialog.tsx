import { Dialog } from '../parts/dialog.tsx'
import { useShortcutSettings } from '../parts/shortcuts.tsx'
import styles from './help-dialog.module.css'

/** Lists the page's keys, and has the switch that turns single keys off. */
export function HelpDialog({ onClose }: { onClose: () => void }) {
  const { keyMap, isOn, setOn } = useShortcutSettings()
  return (
    <Dialog title="Shortcuts" onClose={onClose}>
      <dl className={styles.keys}>
        {keyMap.all().map(({ keys, label }) => (
          <div key={`${keys} ${label}`}>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key}>{shown[key] ?? key}</kbd>
              ))}
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
      <label className={styles.switch}>
        <input type="checkbox" checked={isOn} onChange={(event) => setOn(event.target.checked)} />
        Single keys do these things
      </label>
    </Dialog>
  )
}

const shown: Readonly<Record<string, string>> = {
  ' ': 'Space',
  ArrowLeft: '←',
  ArrowRight: '→',
  ArrowUp: '↑',
  ArrowDown: '↓',
  'Shift+R': 'Shift R',
}
