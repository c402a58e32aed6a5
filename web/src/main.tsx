import { render } from 'preact';
import './style/tokens.css';
import './style/base.css';
import './style/parts.css';
import './style/views.css';
import './style/charts.css';
import { App } from './app';
import { applyTheme } from './parts/theme';
import { chooseLanguage } from './words/language';

applyTheme();
const place = document.getElementById('page');
void chooseLanguage().then(() => {
  if (place) render(<App />, place);
});
