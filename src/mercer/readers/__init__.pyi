from mercer.readers.data import Data as Data
from mercer.readers.options import Options as Options
from mercer.readers.reading import read as read
