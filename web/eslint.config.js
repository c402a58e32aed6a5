// What the linter holds src/ to: strict TypeScript, hooks, and what the keyboard and screen readers need.
import a11y from 'eslint-plugin-jsx-a11y';
import hooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', 'src/api/contract.ts'] },
  {
    files: ['src/**/*.{ts,tsx}'],
    extends: [...tseslint.configs.strictTypeChecked, a11y.flatConfigs.recommended],
    plugins: { 'react-hooks': hooks },
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    settings: { 'jsx-a11y': { attributes: { for: ['for'] } } },
    rules: {
      'react-hooks/rules-of-hooks': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true }],
      '@typescript-eslint/no-unnecessary-condition': 'off', // an older daemon leaves members out
      '@typescript-eslint/no-unnecessary-type-parameters': 'off', // parsed<T>: the caller names the answer
      '@typescript-eslint/no-unsafe-enum-assignment': 'off', // uPlot has const enums, which one file at a time cannot see
      'jsx-a11y/no-noninteractive-tabindex': ['error', { tags: ['code'], roles: ['group', 'region'], allowExpressionValues: true }],
      'jsx-a11y/no-noninteractive-element-interactions': ['error', { handlers: ['onClick'] }], // Escape closes a panel
      'max-lines': ['error', { max: 300, skipComments: true }],
    },
  },
);
