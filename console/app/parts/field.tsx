import { type ComponentProps, type ReactNode, useId } from 'react'
import styles from './field.module.css'

type Labelled = { label: string; note?: ReactNode }

/** A field of a form with its label above. */
export function TextField({ label, note, ...rest }: ComponentProps<'input'> & Labelled) {
  const id = useId()
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className={styles.input}
        aria-describedby={note === undefined ? undefined : `${id}-note`}
        {...rest}
      />
      {note !== undefined && <small id={`${id}-note`}>{note}</small>}
    </div>
  )
}

type Choice = { value: string; label: string }

/** A choice among few values. The browser's own list works with every keyboard and every telephone. */
export function SelectField({
  label,
  choices,
  ...rest
}: ComponentProps<'select'> & { label: string; choices: readonly Choice[] }) {
  const id = useId()
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      <select id={id} className={styles.input} {...rest}>
        {choices.map(({ value, label: text }) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </div>
  )
}
